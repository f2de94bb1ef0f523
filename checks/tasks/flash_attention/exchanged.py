"""Whether an answer is attention of the wrong arrays: K for V, or another head's or batch entry's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.cases import Case, drawn
from judge_tui.checks.tasks.flash_attention.forward import Forward
from judge_tui.checks.tasks.flash_attention.reference import Array, attention
from judge_tui.checks.tolerance import relative_error

__all__ = ["HEADS", "exchanged", "moved"]

#: (B, H, N, D) and T: one tile, so that no other mistake of tiles is in the way; and several.
_CUTS = (((2, 4, 6, 5), 8), ((3, 6, 7, 4), 7), ((2, 4, 12, 5), 4))
_SAME = 1e-6

_Taken = Callable[[int, int, int, int], tuple[int, int]]
#: What is taken for a batch entry and a head; of b, h, B, H.
HEADS: Mapping[str, _Taken] = {
    "the first head": lambda b, h, B, H: (b, 0),
    "the last head": lambda b, h, B, H: (b, H - 1),
    "head h // 2": lambda b, h, B, H: (b, h // 2),
    "head h % 2": lambda b, h, B, H: (b, h % 2),
    "the head before": lambda b, h, B, H: (b, (h - 1) % H),
    "the next head": lambda b, h, B, H: (b, (h + 1) % H),
    "head H - 1 - h": lambda b, h, B, H: (b, H - 1 - h),
    "the first batch entry": lambda b, h, B, H: (0, h),
    "the last batch entry": lambda b, h, B, H: (B - 1, h),
    "the batch entry before": lambda b, h, B, H: ((b - 1) % B, h),
    "the first head of the first batch entry": lambda b, h, B, H: (0, 0),
    "batch and head in each other's order, entry h·B + b": lambda b, h, B, H: divmod(h * B + b, H),
    "batch and head in each other's order, entry b + B·h read as (H, B)": lambda b, h, B, H: (
        (b * H + h) % B, (b * H + h) // B
    ),
}  # fmt: skip
_OF = (("K", "V"), ("K",), ("V",), ("Q",), ("Q", "K", "V"))


def exchanged(forward: Forward) -> str:
    """Which arrays stand in the place of others, as a clause; for a forward that was seen wrong.

    Args:
        forward: What is called.
    """
    cases = [
        drawn(forward.bench.rng("exchanged", at), *cut, forward.causal[-1]) for at, cut in enumerate(_CUTS)
    ]
    try:
        made = [forward(case) for case in cases]
    except Fault:
        return ""
    with np.errstate(all="ignore"):
        off = [not _same(out, case.truth) for out, case in zip(made, cases, strict=True)]
        if not any(off):
            return ""
        for words, gives in _ways():
            if all(_same(out, gives(case)) for out, case in zip(made, cases, strict=True)):
                return words
    return ""


def _same(made: Array, wanted: Array) -> bool:
    return bool(relative_error(made, wanted) <= _SAME)


def _ways() -> Iterator[tuple[str, Callable[[Case], Array]]]:
    for order in itertools.product("QKV", repeat=3):
        swaps = [f"{one} stands in the place of {place}" for one, place in zip(order, "QKV", strict=True)
                 if one != place]  # fmt: skip
        if swaps:
            yield " and ".join(swaps), partial(_with, order)
    for words, taken in HEADS.items():
        for names in _OF:
            told = "O" if len(names) == 3 else " and ".join(names)
            what = (
                "is computed from" if told == "O" else "are taken from" if len(names) > 1 else "is taken from"
            )
            yield f"{told} of every head {what} {words}", partial(_from_heads, taken, names)


def _with(order: tuple[str, ...], case: Case) -> Array:
    arrays = {"Q": case.q, "K": case.k, "V": case.v}
    q, k, v = (arrays[name] for name in order)
    return attention(q, k, v, case.causal)


def _from_heads(taken: _Taken, names: tuple[str, ...], case: Case) -> Array:
    arrays = {"Q": case.q, "K": case.k, "V": case.v}
    q, k, v = (moved(array, taken) if name in names else array for name, array in arrays.items())
    return attention(q, k, v, case.causal)


def moved(array: Array, taken: Callable[[int, int, int, int], tuple[int, int]]) -> Array:
    """An array (B, H, …) with what is taken for each head in its place.

    Args:
        array: Of all heads.
        taken: Batch entry and head → those that are taken; of b, h, B, H.
    """
    batch, heads = array.shape[:2]
    places = np.array([[taken(b, h, batch, heads) for h in range(heads)] for b in range(batch)])
    return np.asarray(array[places[..., 0], places[..., 1]])
