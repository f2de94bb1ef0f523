"""Tiles of rows that have the O of an earlier tile added to theirs: a sum that is not set back."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array

__all__ = ["left_in_rows"]

#: (B, H, N, D) and T of calls with tiles that are whole, and how many tiles back are tried.
_CALLS, _BACK = (((1, 1, 66, 5), 3), ((2, 3, 24, 4), 4), ((1, 4, 40, 3), 2)), 33
_SAME = 1e-6


def left_in_rows(forward: Forward) -> str:
    """How many tiles of rows back it is whose O is added to a tile's, as a clause; empty where none is.

    Args:
        forward: What is called; it was seen wrong.
    """
    calls: list[tuple[Case, Array]] = []
    for at, (shape, tile) in enumerate(_CALLS):
        case = drawn(forward.bench.rng("left in rows", at), shape, tile, forward.causal[-1])
        try:
            calls.append((case, forward(case)))
        except Fault:
            return ""
    for walk in _WALKS:
        parts: list[tuple[Array, Array]] = []
        for case, made in calls:
            parts += zip(walk(case, made), walk(case, case.truth), strict=True)
        for back in range(1, _BACK):
            if any(len(made) > back for made, _ in parts) and all(_added(*part, back=back) for part in parts):
                one = "the tile of rows before it" if back == 1 else f"the tile of rows {back} before it"
                return f"a tile of rows has the O of {one} added to its own: a sum is not set back"
    return ""


def _tiles(case: Case, out: Array) -> Array:
    """(B · H, tiles, T, D)."""
    return out.reshape(-1, out.shape[2] // case.tile, case.tile, out.shape[3])


def _head_by_head(case: Case, out: Array) -> list[Array]:
    """Tiles of rows, those of each head behind those of the one before."""
    return [_tiles(case, out).reshape(-1, case.tile, out.shape[3])]


def _tile_by_tile(case: Case, out: Array) -> list[Array]:
    """Tiles of rows, each of all heads before the next one."""
    return [_tiles(case, out).swapaxes(0, 1).reshape(-1, case.tile, out.shape[3])]


def _each_head(case: Case, out: Array) -> list[Array]:
    """Tiles of rows of each head by themselves."""
    return list(_tiles(case, out))


_WALKS = (_each_head, _head_by_head, _tile_by_tile)


def _added(made: Array, right: Array, *, back: int) -> bool:
    wanted = [one + made[at - back] if at >= back else one for at, one in enumerate(right)]
    with np.errstate(all="ignore"):
        size = max(float(np.abs(one).max()) for one in wanted)
        return all(np.abs(one - other).max() <= _SAME * size for one, other in zip(made, wanted, strict=True))
