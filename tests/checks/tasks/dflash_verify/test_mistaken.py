"""What known mistakes emit, and that draws tell them from the target."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.tasks.dflash_verify.mistaken import MISTAKES, likelier

P = np.array([0.5, 0.28, 0.12, 0.06, 0.04])
SIBLINGS = [1, 0]
DRAWS = 600
#: That a right verifier is taken for one of them: once in a million runs.
LIMIT = np.log(1e6 * len(MISTAKES))


@pytest.mark.parametrize("siblings", [[], [2], [1, 0], [0, 1, 2]])
def test_what_a_mistake_emits_is_a_distribution(siblings: list[int]) -> None:
    for emitted in MISTAKES.values():
        made = emitted(P, siblings)
        assert made.min() >= -1e-12
        assert made.sum() == pytest.approx(1.0)


def test_draws_from_the_target_speak_for_no_mistake() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        counts = rng.multinomial(DRAWS, P).tolist()
        assert next(likelier([(P, SIBLINGS, counts)]))[1] < LIMIT


@pytest.mark.parametrize(
    "words",
    [words for words in MISTAKES if "first distribution" in words or "refused" in words or "two" in words],
)
def test_draws_of_a_mistake_speak_for_it(words: str) -> None:
    counts = np.random.default_rng(3).multinomial(4000, MISTAKES[words](P, SIBLINGS)).tolist()
    found, ratio = next(likelier([(P, SIBLINGS, counts)]))
    assert found == words
    assert ratio > LIMIT
