"""A mistake in the terms of a sum is told where it explains every score, and nothing where none does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from judge_tui.checks.tasks.beam_search.scripts import distinct, hashed
from judge_tui.checks.tasks.beam_search.terms import _MISTAKES, Scored, made_of


def _beams(alpha: float) -> list[Scored]:
    """Right ones of several models, that have ended and have not."""
    rng, beams = np.random.default_rng(5), list[Scored]()
    for number in range(8):
        eos, *others = distinct(rng, 9, 8)
        rows = hashed(rng, 9, eos).rows
        tokens = (*others[2 : 4 + number % 4], *((eos,) if number % 2 else ()))
        beam = Scored(rows, tuple(others[:2]), tokens, eos, alpha, 0.0)
        beams.append(_with(beam, beam.of(sum(beam.terms()))))
    return beams


def _with(beam: Scored, score: float) -> Scored:
    return Scored(beam.rows, beam.prompt, beam.tokens, beam.eos, beam.alpha, score)


@pytest.mark.parametrize("words", _MISTAKES)
def test_each_mistake_is_told(words: str) -> None:
    beams = [_with(beam, next(iter(_MISTAKES[words](beam)))) for beam in _beams(0.7)]
    if words.startswith("the log-probability of EOS behind beginnings"):
        beams = [_with(beam, list(_MISTAKES[words](beam))[1]) for beam in _beams(0.7)]
    assert made_of(beams).startswith(words) or "one of its" in words


def test_right_scores_and_random_ones_are_of_no_mistake() -> None:
    rng = np.random.default_rng(6)
    assert made_of(_beams(0.7)) == ""
    assert made_of([_with(beam, float(rng.normal() - 5)) for beam in _beams(0.7)]) == ""


def test_scores_of_minus_infinity_say_which_beams_have_them() -> None:
    lost = [_with(beam, -math.inf) if beam.ended else beam for beam in _beams(0.0)]
    assert made_of(lost) == "beams that have ended are kept with a score of -inf instead of their own"
    assert made_of([*lost, *_beams(0.7)]).endswith("at alpha = 0 alone")
