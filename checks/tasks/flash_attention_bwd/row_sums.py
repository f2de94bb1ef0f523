"""Which row sum stands in dS = P ∘ (dP − rowsum(dO ∘ O)) of a wrong gradient, where the rest is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.read_off import SAME, Made, close
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, logsumexp

__all__ = ["of_other_rows", "wrong_row_sum"]


def wrong_row_sum(read: Sequence[Made]) -> str:
    """What the row sum is instead, as a clause; empty where something else is wrong.

    Args:
        read: dS of wrong gradients.
    """
    given = [_given_row_sum(each) for each in read]
    told = [row for row in given if row is not None]
    if len(told) < len(read):
        return ""
    for words, wanted in _ROWS.items():
        if all(close(row, wanted(each.problem)) for each, row in zip(read, told, strict=True)):
            return f"the row sum is {words}"
    if words := of_other_rows(_right_row(read[0].problem), told[0]):
        return f"the row sum {words}"
    return "the row sum is another than rowsum(dO ∘ O); the rest of it is right"


def of_other_rows(right: Array, given: Array) -> str:
    """Which row's number the first wrong one is, where all of them are those of other rows, or 0.

    Args:
        right: (B, H, N) one number of each row.
        given: What stands for it.
    """
    rows, flat = given.ravel(), right.ravel()
    near = np.abs(rows[:, None] - flat) <= SAME * np.abs(flat).max()
    nothing = np.abs(rows) <= SAME * np.abs(flat).max()
    if not (near.any(axis=1) | nothing).all() or near.diagonal().all():
        return ""
    wrong = np.flatnonzero(~near.diagonal())
    first = next((int(at) for at in wrong if not nothing[at]), int(wrong[0]))
    at = np.unravel_index(first, right.shape)
    if nothing[first]:
        return f"is 0 in {len(wrong)} of {len(rows)} rows, {_row(at)} first"
    other = np.unravel_index(int(np.argmax(near[first])), right.shape)
    zero = f", and 0 in {int(nothing[wrong].sum())}" if nothing[wrong].any() else ""
    few = f"in {len(wrong)} of {len(rows)} rows{zero}"
    return f"is that of other rows {few}: that of {_row(other)} for {_row(at)}"


def _row(at: Sequence[Any]) -> str:
    b, h, i = (int(each) for each in at)
    return f"row {i} of batch entry {b}, head {h}"


def _given_row_sum(each: Made) -> Array | None:
    """(B, H, N) what is taken off dP in every row; ``None`` where that is no single number of a row."""
    case, d_out = each.problem.case, each.problem.d_out
    seen = np.tri(case.q.shape[2], dtype=bool) | (not case.causal)
    scores = np.where(seen, case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1]), -np.inf)
    weights = np.exp(scores - logsumexp(case)[..., None])
    off = d_out @ case.v.swapaxes(-1, -2) - each.made * np.sqrt(case.q.shape[-1]) / np.where(
        weights > 0, weights, 1.0
    )
    # of the pairs of a row the likeliest tells most exactly
    row = np.take_along_axis(off, weights.argmax(axis=-1)[..., None], axis=-1)
    wanted = np.where(seen, weights * (d_out @ case.v.swapaxes(-1, -2) - row), 0.0) / np.sqrt(
        case.q.shape[-1]
    )
    return np.asarray(row[..., 0]) if close(each.made, wanted) else None


def _right_row(problem: Problem) -> Array:
    return np.asarray((problem.d_out * problem.case.truth).sum(axis=-1))


def _tile_sum(problem: Problem) -> Array:
    """The sum of the tile of keys on the diagonal alone."""
    tile = np.arange(problem.case.q.shape[2]) // problem.tile
    return _over(problem, tile[:, None] == tile)


def _last_tile(problem: Problem) -> Array:
    """The sum of the last tile of keys that a row visits alone."""
    case, length = problem.case, problem.case.q.shape[2]
    tile = np.arange(length) // problem.tile
    last = tile if case.causal else np.full_like(tile, tile[-1])
    return _over(problem, last[:, None] == tile)


def _first_tile(problem: Problem) -> Array:
    tile = np.arange(problem.case.q.shape[2]) // problem.tile
    return _over(problem, np.broadcast_to(tile == 0, (len(tile), len(tile))))


def _over(problem: Problem, pairs: npt.NDArray[np.bool_]) -> Array:
    """Σ P ∘ dP of some pairs alone (B, H, N)."""
    case = problem.case
    seen = pairs & (np.tri(case.q.shape[2], dtype=bool) | (not case.causal))
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
    weights = np.where(seen, np.exp(scores - logsumexp(case)[..., None]), 0.0)
    return np.asarray((weights * (problem.d_out @ case.v.swapaxes(-1, -2))).sum(axis=-1))


#: What may be taken for rowsum(dO ∘ O) → (B, H, N).
_ROWS: Mapping[str, Callable[[Problem], Array]] = {
    "missing": lambda p: np.zeros(p.d_out.shape[:3]),
    "rowsum(P), which is 1": lambda p: np.ones(p.d_out.shape[:3]),
    "added, not taken off": lambda p: -_right_row(p),
    "a mean over D, not a sum": lambda p: _right_row(p) / p.d_out.shape[-1],
    "divided by √D": lambda p: _right_row(p) / np.sqrt(p.d_out.shape[-1]),
    "multiplied by √D": lambda p: _right_row(p) * np.sqrt(p.d_out.shape[-1]),
    "taken twice": lambda p: 2 * _right_row(p),
    "rowsum(dO)": lambda p: p.d_out.sum(axis=-1),
    "rowsum(O)": lambda p: p.case.truth.sum(axis=-1),
    "rowsum(O ∘ O)": lambda p: (p.case.truth**2).sum(axis=-1),
    "rowsum(dO ∘ dO)": lambda p: (p.d_out**2).sum(axis=-1),
    "rowsum(dO ∘ V)": lambda p: (p.d_out * p.case.v).sum(axis=-1),
    "rowsum(dO ∘ Q)": lambda p: (p.d_out * p.case.q).sum(axis=-1),
    "that of the tile of keys on the diagonal alone": _tile_sum,
    "that of the last tile of keys that a row visits alone": _last_tile,
    "that of the first tile of keys alone": _first_tile,
    "that of the row before": lambda p: np.roll(_right_row(p), 1, axis=-1),
    "that of the row behind": lambda p: np.roll(_right_row(p), -1, axis=-1),
    "that of the same row of the first tile": lambda p: _right_row(p)[..., _in_first(p)],
    "that of the first row of its tile": lambda p: _right_row(p)[..., _first_of(p)],
    "that of the first head": lambda p: np.broadcast_to(_right_row(p)[:, :1], p.d_out.shape[:3]),
    "L": lambda p: logsumexp(p.case),
}


def _in_first(problem: Problem) -> npt.NDArray[np.intp]:
    return np.arange(problem.d_out.shape[2]) % problem.tile


def _first_of(problem: Problem) -> npt.NDArray[np.intp]:
    return np.arange(problem.d_out.shape[2]) // problem.tile * problem.tile
