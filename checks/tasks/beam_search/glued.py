"""Whether a sequence that comes back is that of the beam whose score it has.

A search may be right in every sum and give wrong tokens: where these are read back along parents that are
those of another step, or lie in places that did not move with the beams. The scores are then those of a right
search, one by one, and stand beside sequences that are put together of several beams.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.tasks.beam_search.oracle import Hyp, beam_search
from judge_tui.checks.tasks.beam_search.reading import Beam
from judge_tui.checks.tasks.beam_search.searching import NARROW, Answer, written

__all__ = ["glued"]

#: Scores in float32 are this close.
_CLOSE = 2e-6
#: So many sequences have to be wrong: one may be so by chance.
_LEAST = 2


@dataclass(frozen=True, slots=True)
class _Grid:
    """A search step by step, beams best first; no beam of it ends.

    Attributes:
        tokens: Of each step and place, (T, K).
        parents: The place in the step before, (T, K).
        scores: Of the last step, (K,).
    """

    tokens: Sequence[Sequence[int]]
    parents: Sequence[Sequence[int]]
    scores: Sequence[float]

    def read(self, links: Callable[[int], Sequence[int]], place: int, *, early: bool = False) -> Beam:
        """The tokens that are met from a place of the last step back to the first, and its score."""
        met, at = [], place
        for step in reversed(range(len(self.tokens))):
            at = links(step)[at] if early else at
            met.append(self.tokens[step][min(at, len(self.tokens[step]) - 1)])
            at = at if early else links(step)[at]
        return Beam(tuple(reversed(met)), self.scores[place])

    def overwritten(self) -> list[Beam]:
        """What places hold where each takes its parent's tokens, of which some are new already."""
        held: list[list[int]] = [[] for _ in self.scores]
        for step, (tokens, parents) in enumerate(zip(self.tokens, self.parents, strict=True)):
            for place, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
                held[place] = [*held[parent][:step], token]
        return [Beam(tuple(held[k]), score) for k, score in enumerate(self.scores)]


def _way(
    link: Callable[[_Grid, int], Sequence[int]], *, early: bool = False
) -> Callable[[_Grid], list[Beam]]:
    def beams(grid: _Grid) -> list[Beam]:
        places = range(len(grid.scores))
        return [grid.read(lambda step: link(grid, step), place, early=early) for place in places]

    return beams


def _same(grid: _Grid, _step: int) -> Sequence[int]:
    return range(len(grid.scores))


#: Words, behind "as where" → what comes back.
_WAYS: Mapping[str, Callable[[_Grid], list[Beam]]] = {
    "they are read back along the last step's parents at every step": _way(lambda g, _: g.parents[-1]),
    "tokens stay in their places when beams change places": _way(_same),
    "they are read back along the parents of the step before": _way(lambda g, t: g.parents[max(t - 1, 0)]),
    "they are read back along the parents of the step after": _way(
        lambda g, t: g.parents[min(t + 1, len(g.parents) - 1)]
    ),
    "a token is read at the place of its parent": _way(lambda g, t: g.parents[t], early=True),
    "they are read back along the first step's parents at every step": _way(lambda g, _: g.parents[0]),
    "places are overwritten while others still take their tokens from them": _Grid.overwritten,
}


def glued(answers: Sequence[Answer]) -> str:
    """What shows that sequences are not those of the beams whose scores they have; empty where nothing does.

    Args:
        answers: Searches of one prompt each, alpha being 0, in which no beam ends.
    """
    return _simulated(answers) or _read_back(answers)


def _simulated(answers: Sequence[Answer]) -> str:
    """Whether all is as where rows move in place and the model reads them, or sums do not move at all."""
    wrong = [
        (answer, beam)
        for answer in answers
        for beam in answer.beams[0]
        if beam.score is None or not abs(answer.truth(beam) - beam.score) <= NARROW
    ]
    if len(wrong) < _LEAST:
        return ""
    answer, beam = wrong[0]
    for words, gives in _SEARCHES.items():
        if _all_are(answers, [gives(one) for one in answers]):
            told = f"{written(beam.tokens, answer.script.eos)} has {beam.score:.6g}"
            return f"{words}: {told} instead of {answer.truth(beam):.6g}"
    return ""


def _in_place(answer: Answer) -> list[Beam]:
    """What comes back where each place takes its parent's tokens while others are new already."""
    rows, prompt = answer.script.rows, answer.prompts[0]
    held: list[list[int]] = [[] for _ in range(answer.width)]
    totals = [0.0]
    for step in range(answer.steps):
        sums = np.array([total + rows.row([*prompt, *held[k]]) for k, total in enumerate(totals)])
        best = np.argsort(-sums, axis=None, kind="stable")[: answer.width].tolist()
        for place, (parent, token) in enumerate(divmod(at, sums.shape[1]) for at in best):
            held[place] = [*held[parent][:step], token]
        totals = [float(sums.flat[at]) for at in best]
    return [Beam(tuple(held[k]), total) for k, total in enumerate(totals)]


def _sums_stay(answer: Answer) -> list[Beam]:
    """What comes back where a place adds its new token to its own sum, and not to its parent's."""
    rows, prompt = answer.script.rows, answer.prompts[0]
    beams: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    for _step in range(answer.steps):
        each = np.array([rows.row([*prompt, *text]) for text, _ in beams])
        sums = np.array([total for _, total in beams])[:, None] + each
        best = np.argsort(-sums, axis=None, kind="stable")[: answer.width].tolist()
        pairs = [divmod(at, sums.shape[1]) for at in best]
        totals = [total for _, total in beams] + [0.0] * answer.width
        beams = [
            ((*beams[parent][0], token), totals[place] + float(each[parent, token]))
            for place, (parent, token) in enumerate(pairs)
        ]
    return [Beam(text, total) for text, total in beams]


#: Words → what comes back.
_SEARCHES: Mapping[str, Callable[[Answer], list[Beam]]] = {
    "beams move in place, and what one has to take is overwritten before by another's": _in_place,
    "sums stay in their places when beams change them: a token adds to another beam's sum": _sums_stay,
}


def _read_back(answers: Sequence[Answer]) -> str:
    """Whether all scores are those of a right search, and some stand beside other sequences."""
    told: list[str] = []
    for answer in answers:
        rows, prompt, eos = answer.script.rows, answer.prompts[0], answer.script.eos
        right = beam_search(rows, prompt, answer.width, answer.steps, 0.0, eos)
        for beam in answer.beams[0]:
            owner = _owner(beam, right.hyps)
            if owner is None:
                return ""
            if owner.tokens != beam.tokens:
                told.append(
                    f"{written(beam.tokens, eos)} comes with the score of {written(owner.tokens, eos)}"
                )
    if len(told) < _LEAST:
        return ""
    grids = [_grid(answer) for answer in answers]
    way = next((words for words, beams in _WAYS.items() if _all_are(answers, list(map(beams, grids)))), "")
    return f"scores are those of other sequences{f', as where {way}' if way else ''}: {told[0]}"


def _owner(beam: Beam, hyps: Sequence[Hyp]) -> Hyp | None:
    """The hypothesis whose score a beam has; its own, where several have it."""
    if beam.score is None:
        return None
    near = [hyp for hyp in hyps if abs(hyp.logprob - beam.score) <= _CLOSE * max(1.0, abs(beam.score))]
    return next((hyp for hyp in near if hyp.tokens == beam.tokens), near[0] if near else None)


def _all_are(answers: Sequence[Answer], expected: Sequence[list[Beam]]) -> bool:
    """Whether every beam that came back is one of those that are expected of its search, score and tokens."""
    for answer, beams in zip(answers, expected, strict=True):
        for beam in answer.beams[0]:
            close = [one for one in beams if abs((one.score or 0.0) - (beam.score or 0.0)) <= NARROW]
            if not any(one.tokens == beam.tokens for one in close):
                return False
    return True


def _grid(answer: Answer) -> _Grid:
    rows, prompt, width = answer.script.rows, answer.prompts[0], answer.width
    beams: list[tuple[tuple[int, ...], float]] = [((), 0.0)]
    tokens: list[list[int]] = []
    parents: list[list[int]] = []
    for _step in range(answer.steps):
        sums = np.array([total + rows.row([*prompt, *own]) for own, total in beams])
        best = np.argsort(-sums, axis=None, kind="stable")[:width].tolist()
        pairs = [divmod(place, sums.shape[1]) for place in best]
        beams = [((*beams[parent][0], token), float(sums[parent, token])) for parent, token in pairs]
        parents.append([parent for parent, _ in pairs])
        tokens.append([token for _, token in pairs])
    return _Grid(tokens, parents, [total for _, total in beams])
