"""The P and the dS that gradients are made of, read off them, and which pairs of a row and a key are wrong.

dV = Pᵀ dO is linear in dO: with columns of the identity for dO it is Pᵀ itself. dQ = dS K / √D and dK =
dSᵀ Q / √D give dS where D is no less than N.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention.seen_keys import counts_told
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, gradients, logsumexp, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["wrong_pairs"]

_SAME = 1e-6
#: Problems that are read, the largest N, and calls of one.
_MOST, _LONGEST, _CALLS = 3, 48, 16
_MOST_TIMES = 9


@dataclass(frozen=True, slots=True)
class _Made:
    """What a gradient is made of.

    Attributes:
        problem: What was differentiated.
        made: P, or dS / √D, as the gradient has it (B, H, N, N).
        right: As it should be, hidden pairs 0.
        whole: The same with hidden pairs not hidden.
        given: The gradient itself (B, H, N, D).
        wanted: As it should be.
    """

    problem: Problem
    made: Array
    right: Array
    whole: Array
    given: Array
    wanted: Array


def wrong_pairs(bench: Bench, attention: Attention, ledger: Ledger, name: str) -> str:
    """What is wrong with the P or dS of a gradient that was seen wrong, as a clause.

    Args:
        bench: Where it is judged.
        attention: What is called.
        ledger: All calls.
        name: ``dQ``, ``dK`` or ``dV``.

    Returns:
        Empty where it is right in what can be read, or where nothing is known.
    """
    read: list[_Made] = []
    try:
        for at, problem in enumerate(_suited(ledger, name)):
            made = _read(attention, _anew(bench, problem, at, wide=name != "dV"), name)
            if made is not None and not _close(made.made, made.right):
                read.append(made)
            if len(read) == _MOST:
                break
    except Fault:
        return ""
    if not read:
        return ""
    if moved := _moved(read):
        return f"{name} {moved}"
    what = "P" if name == "dV" else "dS"
    with np.errstate(all="ignore"):
        told = _factor(read) or _counted(read) or ("" if name == "dV" else _row_sum(read))
    return f"in its {what}, {told}" if told else ""


def _suited(ledger: Ledger, name: str) -> list[Problem]:
    """Wrong plain problems, of several tiles first, causal and not, of different rests."""
    wrong = [figure.problem for figure in ledger.figures[name] if figure.verdict is Verdict.FAIL]
    small = [one for one in wrong if one.double and one.case.plain and 3 <= one.case.q.shape[2] <= _LONGEST]
    kinds: dict[tuple[bool, bool, int], Problem] = {}
    for one in sorted(small, key=lambda one: (not 2 <= one.tile < one.case.q.shape[2] // 2, one.case.q.size)):
        length = one.case.q.shape[2]
        kinds.setdefault((one.case.causal, one.tile < length, length % one.tile), one)
    return list(kinds.values())


def _anew(bench: Bench, problem: Problem, at: int, *, wide: bool) -> Problem:
    """A draw of the same sizes; wide enough that dS can be told, if it must be."""
    batch, heads, length, width = problem.case.q.shape
    shape = (batch, heads, length, max(width, length + 2) if wide else width)
    return posed(bench.rng("pairs", at), shape, problem.case.tile, problem.case.causal, back=problem.tile)


def _read(attention: Attention, problem: Problem, name: str) -> _Made | None:
    case = problem.case
    length, width = case.q.shape[2:]
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(width)
    seen = np.tri(length, dtype=bool) if case.causal else np.ones((length, length), dtype=bool)
    whole = np.exp(scores - logsumexp(case)[..., None])
    weights = np.where(seen, whole, 0.0)
    if name != "dV":
        d_p = problem.d_out @ case.v.swapaxes(-1, -2)
        taken = (d_p - (weights * d_p).sum(-1, keepdims=True)) / np.sqrt(width)
        given = attention(problem)[name]
        made = (
            given @ np.linalg.pinv(case.k)
            if name == "dQ"
            else (given @ np.linalg.pinv(case.q)).swapaxes(-1, -2)
        )
        return _Made(problem, made, weights * taken, whole * taken, given, gradients(problem)[name])
    if -(-length // width) > _CALLS:
        return None
    made = np.zeros_like(weights)
    for start in range(0, length, width):
        rows = np.arange(start, min(start + width, length))
        d_out = np.zeros(case.q.shape)
        d_out[:, :, rows, rows - start] = 1.0
        given = attention(replace(problem, d_out=d_out))["dV"]
        made[:, :, rows] = given[..., : len(rows)].swapaxes(-1, -2)
    given = attention(problem)[name]
    return _Made(problem, made, weights, whole, given, gradients(problem)[name])


def _moved(read: Sequence[_Made]) -> str:
    """Whether what rows get is right in all, but goes to other rows."""
    if not all(_close(each.given.sum(axis=2), each.wanted.sum(axis=2)) for each in read):
        return ""
    if all(_close(each.given, each.wanted) for each in read):
        return ""
    return "adds up to what is right over all rows, but goes to other rows than it belongs to"


def _close(made: Array, wanted: Array) -> bool:
    return bool(np.abs(made - wanted).max() <= _SAME * max(np.abs(wanted).max(), 1e-300))


def _factor(read: Sequence[_Made]) -> str:
    """One factor of all pairs, or one of each row, where that is all that is wrong."""
    factors = [(each.made * each.right).sum(-1) / (each.right**2).sum(-1) for each in read]
    if not all(
        _close(each.made, factor[..., None] * each.right) for each, factor in zip(read, factors, strict=True)
    ):
        return ""
    values = np.concatenate([factor.ravel() for factor in factors])
    if np.ptp(values) <= _SAME * np.abs(values).max():
        for words, given in _FACTORS.items():
            if all(abs(f.flat[0] - given(e.problem)) <= _SAME for f, e in zip(factors, read, strict=True)):
                return f"everything is {words}"
        return f"everything is {values[0]:.3g} times what it should be"
    if all(_whole_rows(factor) for factor in factors):
        return ""
    return f"rows are right but for a factor of each, {values.min():.2g} to {values.max():.2g}"


def _whole_rows(factor: Array) -> bool:
    """Whether rows count or do not, which counting tells better."""
    return bool(np.all(np.abs(factor - np.round(factor)) <= _SAME))


#: One factor of all → of the problem.
_FACTORS: Mapping[str, Callable[[Problem], float]] = {
    "0": lambda p: 0.0,
    "turned in sign": lambda p: -1.0,
    "twice what it should be": lambda p: 2.0,
    "half of what it should be": lambda p: 0.5,
    "multiplied by √D, which it should be divided by": lambda p: float(p.case.q.shape[3]),
    "without 1/√D": lambda p: float(p.case.q.shape[3] ** 0.5),
    "divided by √D once more": lambda p: float(p.case.q.shape[3] ** -0.5),
    "multiplied by 1/√N, not by 1/√D": lambda p: float((p.case.q.shape[3] / p.case.q.shape[2]) ** 0.5),
    "multiplied by 1/√T, not by 1/√D": lambda p: float((p.case.q.shape[3] / p.tile) ** 0.5),
    "multiplied by ln 2": lambda p: float(np.log(2.0)),
    "multiplied by log₂e": lambda p: float(np.log2(np.e)),
    "multiplied by the number of heads": lambda p: float(p.case.q.shape[1]),
    "divided by the number of heads": lambda p: 1.0 / p.case.q.shape[1],
}


def _counted(read: Sequence[_Made]) -> str:
    """Pairs that are left out, that count more than once, or that should be hidden.

    What is 0 in every head anyhow says nothing of how often it counts.
    """
    counts = []
    for each in read:
        size = np.abs(each.whole)
        told = size > 1e-12 * size.max()
        times = np.where(told, np.round(each.made / np.where(told, each.whole, 1.0)), np.nan)
        fits = _close(each.made, np.where(told, times * each.whole, 0.0))
        first = np.nanmax(np.where(told, times, -1.0), axis=(0, 1))
        odd = told & (times != first)
        if not fits or odd.any() or first.max() > _MOST_TIMES or np.nanmin(times) < 0:
            return ""
        counts.append(first.astype(np.int64))
    cases = [replace(each.problem.case, tile=each.problem.tile) for each in read]
    return counts_told(cases, counts)


def _row_sum(read: Sequence[_Made]) -> str:
    """A row sum in dS = P ∘ (dP − row sum) that is another, where the rest of dS is right."""
    given = [_given_row_sum(each) for each in read]
    told = [row for row in given if row is not None]
    if len(told) < len(read):
        return ""
    for words, wanted in _ROWS.items():
        if all(_close(row, wanted(each.problem)) for each, row in zip(read, told, strict=True)):
            return f"the row sum is {words}"
    return "the row sum is another than rowsum(dO ∘ O); the rest of it is right"


def _given_row_sum(each: _Made) -> Array | None:
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
    return np.asarray(row[..., 0]) if _close(each.made, wanted) else None


def _right_row(problem: Problem) -> Array:
    return np.asarray((problem.d_out * problem.case.truth).sum(axis=-1))


def _tile_sum(problem: Problem) -> Array:
    """The sum of the tile of keys on the diagonal alone."""
    case, length = problem.case, problem.case.q.shape[2]
    tile = np.arange(length) // problem.tile
    seen = (tile[:, None] == tile) & (np.tri(length, dtype=bool) | (not case.causal))
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
