"""Whether what is kept of a beam moves with it when beams change places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.tasks.beam_search.oracle import beam_search
from judge_tui.checks.tasks.beam_search.scripts import Script, Tokens, distinct, table
from judge_tui.checks.tasks.beam_search.searching import NARROW, Search

__all__ = ["left_in_its_place"]

_VOCAB, _WIDTH, _ALPHA = 600, 2, 1.0
#: What the beam that goes on adds step by step, beside one that ends at once: it stays first, it stays
#: second, or it is overtaken by the ended one, by sums as by scores.
_END = -1.0
_STAYING = ((-0.5, -0.2, -0.1), (-3.0, -0.5, -0.1))
_OVERTAKEN = ((-0.5, -0.2, -3.0), (-0.6, -0.2, -3.6, -0.1))


def left_in_its_place(bench: Bench, search: Search) -> str:
    """Whether answers are right while beams keep their places, and wrong once they change them, as a clause.

    Args:
        bench: Draws the models.
        search: The submission's.
    """
    if not all(_right(bench, search, terms) for terms in _STAYING):
        return ""
    if any(_right(bench, search, terms, torn=True) for terms in _OVERTAKEN):
        return ""
    return (
        "an ended beam is right while it keeps its place among the beams, and wrong once it changes it: "
        "something of it, such as its length, is kept by place and does not move with it"
    )


def _right(bench: Bench, search: Search, terms: tuple[float, ...], *, torn: bool = False) -> bool:
    """Whether tokens and scores are right under a penalty; or, asked for what is torn, whether not that."""
    answered = [_answered(search, *drawn, len(terms)) for drawn in _tables(bench, terms)]
    return not all(wrong for _, wrong in answered) if torn else all(right for right, _ in answered)


def _answered(search: Search, script: Script, prompt: Tokens, steps: int) -> tuple[bool, bool]:
    """Whether an answer is right; and whether a right beam is in it with another score, or another length."""
    truth = beam_search(script.rows, prompt, _WIDTH, steps, _ALPHA, script.eos)
    scores = {hyp.tokens: hyp.score(_ALPHA) for hyp in truth.hyps}
    beams = search(script, [prompt], _WIDTH, steps, _ALPHA).beams[0]
    off = any(
        abs(beam.score - scores[beam.tokens]) > NARROW
        for beam in beams
        if beam.score is not None and beam.tokens in scores and not search.form.unpenalised
    )
    cut = any(
        beam.tokens[: len(own)] == own[: len(beam.tokens)]
        for beam in beams
        for own in scores
        if beam.tokens not in scores
    )
    return not off and {beam.tokens for beam in beams} == {*scores}, off or cut


def _tables(bench: Bench, terms: tuple[float, ...]) -> Iterator[tuple[Script, Tokens]]:
    """One that ends at the first step, and one of these terms."""
    for number in range(2):
        rng: np.random.Generator = bench.rng("kept by place", number)
        eos, on, *rest = distinct(rng, _VOCAB, 4)
        prompt = tuple(rest)
        entries: dict[Tokens, dict[int, float]] = {}
        for step, term in enumerate(terms):
            entries[*prompt, *[on] * step] = {on: term} | ({eos: _END} if not step else {})
        yield table(rng, _VOCAB, eos, entries), prompt
