"""Scores far from 0, and why gradients of these are wrong.

Softmax does not change where all scores of a row are shifted. P = exp(S − L) does for what is no key: places
that pad a tile, or a group of tiles, score 0, however far below that L is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.tasks.flash_attention_bwd.held import Ledger
from judge_tui.checks.tasks.flash_attention_bwd.passes import Attention
from judge_tui.checks.tasks.flash_attention_bwd.reference import Problem, posed
from judge_tui.checks.verdict import Verdict

__all__ = ["extremes", "why_extremes"]

#: Levels of scores: past the range of exp, and below numbers that stand in for −inf.
_LEVELS = (-900.0, 900.0, -2e4, -7e4)
#: Scores past the range of exp.
_LOW = -900.0
#: Lengths and tiles of the backward, at tiles of 4 of the forward, whose last group of tiles is not whole for
#: any number of tiles to a group, or whose last tile is whole in the forward alone.
_GROUPED = ((20, 4), (20, 7))
#: Shape and tile of the forward.
_SHAPE, _TILE = (1, 2, 18, 16), 4
#: Tiles to a group, and numbers of tiles, that are tried.
_GROUPS, _NUMBERS = range(2, 9), range(1, 10)
#: N and the backward's T of a rest, and of another tile than the forward's.
_RESTS, _OTHER_TILES = ((18, 4),), ((20, 7), (21, 7), (30, 7))
#: Whether there is a mask, N, and the backward's T.
_Cut = tuple[bool, int, int]
#: The largest argument of exp in float64, and what is well within it and beyond it.
_RANGE, _WITHIN, _BEYOND = 709, 680.0, 740.0


def extremes(bench: Bench, causal: bool) -> Iterator[Problem]:
    """Problems of special scores.

    Args:
        bench: Where numbers are drawn.
        causal: The mask of all of them.
    """
    for by in _LEVELS:
        name = f"scores near {by:g}"
        yield shifted(posed(bench.rng(name, causal), _SHAPE, _TILE, causal, back=7, name=name), by)
    for length, back in _GROUPED:
        name = f"scores near {_LOW:g}"
        shape = (*_SHAPE[:2], length, _SHAPE[3])
        yield shifted(posed(bench.rng(name, causal, back), shape, _TILE, causal, back=back, name=name), _LOW)


def shifted(problem: Problem, by: float) -> Problem:
    """Shift every score of a row: softmax does not change, but an L without its maximum overflows.

    Entries are multiples of 1/8 and √D is 4, so that every score is exact in float32 too.
    """
    q, k = np.round(8 * problem.case.q) / 8, np.round(8 * problem.case.k) / 8
    q[..., 0], k[..., 0] = 16.0, by / 4
    return replace(problem, case=replace(problem.case, q=q, k=k))


def why_extremes(bench: Bench, attention: Attention, name: str) -> str:
    """Why a gradient is wrong where scores are special and nowhere else, as a clause; empty for nothing.

    Args:
        bench: Where it is judged.
        attention: What is called.
        name: The gradient.
    """
    return _Trial(bench, attention, name).far_below()


@dataclass(frozen=True, slots=True)
class _Trial:
    """Calls of a gradient that is wrong for special scores alone."""

    bench: Bench
    attention: Attention
    name: str

    def far_below(self) -> str:
        """With which masks and which lengths it is wrong where scores are far below 0."""
        masks = self.attention.causal
        wrong = {cut for causal in masks for cut in _cuts(causal) if self._wrong(self._low(cut, _LOW))}
        of = {causal for causal, _, _ in wrong}
        told = [] if of in (set(), set(masks)) else ["with the mask" if True in of else "without the mask"]
        where = _lengths({(length, back) for _, length, back in wrong})
        told += [where] if where else []
        if not told:
            return ""
        return (
            f"wrong only with scores far below 0, {', '.join(told)}{self._why(max(wrong)) if where else ''}"
        )

    def _why(self, cut: _Cut) -> str:
        """Whether exp(−L), which is that of a score of 0, overflows where it is wrong."""
        past = "places past the last key, whose score of 0 is far above these, are not hidden"
        if self._wrong(self._low(cut, -_BEYOND)) and not self._wrong(self._low(cut, -_WITHIN)):
            return f": {past}, and exp(0 - L) overflows for L below -{_RANGE}"
        return f": {past}" if cut[1] % cut[2] else ""

    def _low(self, cut: _Cut, by: float) -> Problem:
        causal, length, back = cut
        rng = self.bench.rng("far below", causal, length, back)
        return shifted(posed(rng, (1, 2, length, 16), _TILE, causal, back=back, name="far below"), by)

    def _wrong(self, problem: Problem) -> bool:
        held = Ledger().hold(problem, self.attention(problem))
        return any(figure.name == self.name and figure.verdict is Verdict.FAIL for figure in held)


def _cuts(causal: bool) -> list[_Cut]:
    """What is tried: whole tiles, a rest, and another tile of the backward that N is a multiple of or not."""
    whole = [(_TILE * number, _TILE) for number in _NUMBERS]
    return [(causal, *cut) for cut in (*whole, *_RESTS, *_OTHER_TILES)]


def _lengths(wrong: set[tuple[int, int]]) -> str:
    """Of which lengths it is wrong, as a clause; empty for all of them, or for no rule."""
    whole = {(length, back) for _, length, back in _cuts(False) if back == _TILE and length % _TILE == 0}
    other, wrong = wrong & set(_OTHER_TILES), wrong - set(_OTHER_TILES)
    if not wrong:
        ragged = other == {cut for cut in _OTHER_TILES if cut[0] % cut[1] and cut[0] % _TILE == 0}
        return "where N is a multiple of the forward's T and not of the backward's" if ragged else ""
    if wrong in (set(_RESTS), whole):
        return f"where N is {'no' if wrong == set(_RESTS) else 'a'} multiple of T"
    for group in _GROUPS:
        if wrong - set(_RESTS) == {cut for cut in whole if cut[0] // _TILE % group}:
            number = "odd" if group == 2 else f"no multiple of {group}"
            return f"where the number of tiles of keys is {number}"
    return ""
