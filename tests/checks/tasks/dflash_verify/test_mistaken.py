"""What known mistakes emit, and that draws tell them from the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from judge_tui.checks.specimens import judged, specimens
from judge_tui.checks.task import load_task
from judge_tui.checks.tasks.dflash_verify.mistaken import MISTAKES, Drawn, likelier

TASK = load_task("dflash_verify")
SPECIMENS = {each.name: each for each in specimens(Path(__file__).parent, TASK)}
P = np.array([0.5, 0.28, 0.12, 0.06, 0.04])
#: What is drawn at other temperatures: the likeliest token has more than an even share of two.
UNEVEN = np.array([0.57, 0.23, 0.1, 0.06, 0.04])
SIBLINGS = [1, 0]
DRAWS = 600
#: That a right verifier is taken for one of them: once in a million runs.
LIMIT = np.log(1e6 * len(MISTAKES))


@pytest.mark.parametrize("siblings", [[], [2], [1, 0], [0, 1, 2]])
def test_what_a_mistake_emits_is_a_distribution(siblings: list[int]) -> None:
    for emitted in MISTAKES.values():
        made = emitted(P, siblings, 0.6)
        assert made.min() >= -1e-12
        assert made.sum() == pytest.approx(1.0)


def test_draws_from_the_target_speak_for_no_mistake() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        counts = rng.multinomial(DRAWS, P).tolist()
        assert next(likelier([Drawn(P, SIBLINGS, counts, 0.6)]))[1] < LIMIT


def place(shares: Sequence[float], siblings: Sequence[int], temperature: float, words: str) -> Drawn:
    """What a mistake emits, as counts of very many draws."""
    p = np.array(shares)
    counts = np.round(DRAWS * MISTAKES[words](p, siblings, temperature)).astype(int)
    return Drawn(p, siblings, counts.tolist(), temperature)


@pytest.mark.parametrize("words", MISTAKES)
def test_draws_of_a_mistake_speak_for_it_and_for_no_other(words: str) -> None:
    drawn = [
        place(P if temperature == 1.0 else UNEVEN, siblings, temperature, words)
        for temperature, siblings in [
            *((1.0, [1, 0]), (1.0, [])),
            *((0.5, [0, 1]), (0.5, [1, 2]), (0.5, []), (2.0, [0, 1]), (2.0, [1, 2]), (2.0, [])),
        ]
    ]
    # the last places lie behind others
    drawn[-3:] = [replace(each, above=np.roll(P, 1)) for each in drawn[-3:]]
    (found, ratio), (_, second) = list(likelier(drawn))[:2]
    assert found == words
    assert ratio > LIMIT
    assert ratio - second > 3


def test_mistakes_of_the_temperature_are_none_at_1() -> None:
    for words, emitted in MISTAKES.items():
        if "temperature" in words and "likeliest" not in words:
            assert emitted(P, SIBLINGS, 1.0) == pytest.approx(P), words
            assert emitted(P, [], 1.0) == pytest.approx(P), words


def test_a_verifier_is_told_which_mistake_its_draws_speak_for() -> None:
    wanted = replace(SPECIMENS["sampler_alone_has_the_temperature"], expected={"distribution": frozenset()})
    summary = judged(wanted, TASK, seed=5)["distribution"].summary
    assert (
        "as where the temperature is 1 in acceptance alone; at temperature 1 draws are the target's"
        in summary
    )
