"""Which number stands for a row's log-sum-exp where P is right but for a factor of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from judge_tui.checks.tasks.flash_attention.reference import Array
from judge_tui.checks.tasks.flash_attention_bwd.read_off import SAME, Made
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, logsumexp
from judge_tui.checks.tasks.flash_attention_bwd.row_sums import of_other_rows

__all__ = ["known_l", "wrong_l"]


def wrong_l(read: Sequence[Made], factors: Sequence[Array]) -> str:
    """What L is, as a clause; empty where it is nothing known.

    Args:
        read: P of wrong gradients.
        factors: (B, H, N) by how much each row of P is too large.
    """
    if any((factor <= 0).any() for factor in factors):
        return ""
    given = [
        logsumexp(each.problem.case) - np.log(factor) for each, factor in zip(read, factors, strict=True)
    ]
    if words := known_l([each.problem for each in read], given):
        return f"L is {words}"
    other = of_other_rows(logsumexp(read[0].problem.case), given[0])
    return f"L {other}" if other else ""


def known_l(problems: Sequence[Problem], given: Sequence[Array]) -> str:
    """What numbers of rows are, of all problems; empty where they are nothing known.

    Args:
        problems: What was called.
        given: (B, H, N) what stands for L.
    """
    for words, wanted in _KNOWN.items():
        if all(_near(made, wanted(problem)) for problem, made in zip(problems, given, strict=True)):
            return words
    return ""


def _near(made: Array, wanted: Array) -> bool:
    with np.errstate(all="ignore"):
        return bool((np.abs(made - wanted) <= SAME * (1.0 + np.abs(wanted))).all())


def _scores(problem: Problem) -> Array:
    case = problem.case
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
    if case.causal:
        scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
    return np.asarray(scores)


def _top(problem: Problem) -> Array:
    return np.asarray(_scores(problem).max(axis=-1))


def _total(problem: Problem) -> Array:
    """The sum of exponentials (B, H, N)."""
    return np.asarray(np.exp(_scores(problem) - _top(problem)[..., None]).sum(axis=-1))


def _of_tiles(problem: Problem, *, last: bool, tile: int) -> Array:
    """Scores of the first, or of the last tile of keys that a row visits; -inf elsewhere."""
    case = problem.case
    number = np.arange(case.q.shape[2]) // tile
    visited = number[:, None] if case.causal else np.full_like(number, number[-1])[:, None]
    return np.where(number == (visited if last else 0), _scores(problem), -np.inf)


def _summed(scores: Array, top: Array) -> Array:
    return np.asarray(np.exp(scores - top[..., None]).sum(axis=-1))


def _unscaled(problem: Problem) -> Array:
    """The log-sum-exp of scores without 1/√D."""
    scores = _scores(problem) * np.sqrt(problem.case.q.shape[-1])
    top = scores.max(axis=-1)
    return np.asarray(top + np.log(_summed(scores, top)))


def _of_one(last: bool, own: bool) -> Callable[[Problem], Array]:
    """log-sum-exp of one tile; with the maximum of all tiles, or with its own."""

    def gives(problem: Problem) -> Array:
        scores = _of_tiles(problem, last=last, tile=problem.case.tile)
        top = scores.max(axis=-1) if own else _top(problem)
        return np.asarray(top + np.log(_summed(scores, top)))

    return gives


def _mixed(last_top: bool) -> Callable[[Problem], Array]:
    """The maximum of one tile beside l of all of them, or the other way round."""

    def gives(problem: Problem) -> Array:
        scores = _of_tiles(problem, last=True, tile=problem.case.tile)
        own = scores.max(axis=-1)
        if last_top:
            return np.asarray(own + np.log(_total(problem)))
        return np.asarray(_top(problem) + np.log(_summed(scores, own)))

    return gives


def _whole(problem: Problem) -> Array:
    case = problem.case
    scores = case.q @ case.k.swapaxes(-1, -2) / np.sqrt(case.q.shape[-1])
    top = scores.max(axis=-1)
    return np.asarray(top + np.log(_summed(scores, top)))


#: What may stand for m + log l → (B, H, N).
_KNOWN: Mapping[str, Callable[[Problem], Array]] = {
    "m + l, without a logarithm": lambda p: _top(p) + _total(p),
    "log l, without the maximum": lambda p: np.log(_total(p)),
    "the maximum m, without log l": _top,
    "m + log₂ l": lambda p: _top(p) + np.log2(_total(p)),
    "m - log l": lambda p: _top(p) - np.log(_total(p)),
    "m · log l": lambda p: _top(p) * np.log(_total(p)),
    "l, without the maximum and a logarithm": _total,
    "turned in sign": lambda p: -logsumexp(p.case),
    "0": lambda p: np.zeros(p.d_out.shape[:3]),
    "in base two": lambda p: logsumexp(p.case) / np.log(2.0),
    "in base two, multiplied by ln 2 twice": lambda p: logsumexp(p.case) * np.log(2.0),
    "that of scores without 1/√D": _unscaled,
    "multiplied by √D": lambda p: logsumexp(p.case) * np.sqrt(p.case.q.shape[-1]),
    "divided by √D": lambda p: logsumexp(p.case) / np.sqrt(p.case.q.shape[-1]),
    "that of the last tile of keys alone": _of_one(True, True),
    "that of the first tile of keys alone": _of_one(False, True),
    "m + log of the last tile's sum alone": _of_one(True, False),
    "m + log of the first tile's sum alone": _of_one(False, False),
    "the last tile's own maximum + log l": _mixed(True),
    "m + log of the last tile's sum, by its own maximum": _mixed(False),
    "that of the row before": lambda p: np.roll(logsumexp(p.case), 1, axis=-1),
    "that of the row behind": lambda p: np.roll(logsumexp(p.case), -1, axis=-1),
    "that of the first head": lambda p: np.broadcast_to(logsumexp(p.case)[:, :1], p.d_out.shape[:3]),
    "less log N": lambda p: logsumexp(p.case) - np.log(p.case.q.shape[2]),
    "that of all keys, hidden ones among them": _whole,
}
