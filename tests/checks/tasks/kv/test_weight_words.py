"""What is wrong with weights: the words for it."""

from __future__ import annotations

import numpy as np
import pytest

from judge_tui.checks.tasks.kv.incremental_equals_full.weight_words import weight_words
from judge_tui.checks.tasks.kv.words.reference import causal_rows

ROWS, STORED = 5, 9
SCORES = 0.5 * np.random.default_rng(0).standard_normal((2, 3, ROWS, STORED))
SEEN = np.broadcast_to(causal_rows(ROWS, STORED), SCORES.shape)


def _weights(scores: np.ndarray = SCORES, seen: np.ndarray = SEEN) -> np.ndarray:
    weights = np.where(seen, np.exp(scores), 0.0)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _ahead() -> np.ndarray:
    seen = SEEN.copy()
    seen[:, :, 1, 6:8] = True
    return _weights(seen=seen)


def _from_a_token_on() -> np.ndarray:
    seen = SEEN.copy()
    seen[:, 1, :, 7:] = True
    return _weights(seen=seen)


def _ahead_and_hidden() -> np.ndarray:
    seen = SEEN.copy()
    seen[..., :3] = False
    seen[:, :, 1, 6:8] = True
    return _weights(seen=seen)


def _hidden() -> np.ndarray:
    seen = SEEN.copy()
    seen[:, 1, :, :3] = False
    return _weights(seen=seen)


def _no_values() -> np.ndarray:
    made = _weights()
    made[..., 2] = 0.0
    return made


def _zeros() -> np.ndarray:
    scores = SCORES.copy()
    scores[:, 2, :, :2] = 0.0
    made = _weights(scores)
    made[:, 2, :, :2] = 0.0
    return made


def _value_of_another() -> np.ndarray:
    made = _weights()
    made[..., 0] += made[..., 3]
    made[..., 3] = 0.0
    return made


def _key_of_another() -> np.ndarray:
    scores = SCORES.copy()
    scores[..., 3] = SCORES[..., 2]
    return _weights(scores)


def _mask_from_the_start() -> np.ndarray:
    return _weights(seen=np.broadcast_to(np.arange(STORED) <= np.arange(ROWS)[:, None], SCORES.shape))


def _counted(times: list[int]) -> np.ndarray:
    weights = np.where(SEEN, np.exp(SCORES), 0.0) * times
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _not_finite() -> np.ndarray:
    made = _weights()
    made[:, :, 4] = np.nan
    return made


def _over(axis: int) -> np.ndarray:
    weights = np.where(SEEN, np.exp(SCORES), 0.0)
    return np.asarray(weights / np.maximum(weights.sum(axis=axis, keepdims=True), 1e-300))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (_weights(), ""),
        (_ahead(), "1 of 5 rows see tokens behind their own: row 1, of token 5, sees tokens 6 to 7 of 9"),
        (
            _from_a_token_on(),
            "4 of 5 rows see tokens behind their own of head 1, from token 7 on: "
            "row 0, of token 4, sees tokens 7 to 8 of 9",
        ),
        (
            _ahead_and_hidden(),
            "1 of 5 rows see tokens behind their own: row 1, of token 5, sees tokens 6 to 7 of 9; "
            "without weight: tokens 0 to 2 of 9",
        ),
        (_hidden(), "tokens 0 to 2 of 9, head 1: not attended to"),
        (_no_values(), "token 2: the values count as zeros"),
        (_zeros(), "tokens 0 to 1 of 9, head 2: keys and values count as zeros"),
        (_value_of_another(), "token 3: in its place stands the value of token 0"),
        (_key_of_another(), "for the key of token 3 stands that of token 2"),
        (_weights(2.0 * SCORES), "scores are 2 times what they should be"),
        (0.5 * _weights(), "all rows: weights right but for a factor of 0.5"),
        (
            _mask_from_the_start(),
            "5 of 5 rows do not see all tokens before them: row 4, of token 8, sees tokens 0 to 4 of 9 alone",
        ),
        (
            _counted([2, 2, 1, 1, 1, 1, 0, 1, 0]),
            "tokens 0 to 1 of 9: key and value count twice, those of tokens 6, 8 of 9 not at all",
        ),
        (_counted([1, 1, 3, 1, 1, 1, 1, 1, 1]), "token 2: key and value count 3 times"),
        (_not_finite(), "row 4: not finite"),
        (_over(1), "weights are divided by the sum over the heads, not over the tokens"),
        (np.where(SEEN, np.exp(SCORES), 0.0), "weights are exp of the scores, not divided by their sum"),
        (_weights() ** 2, "weights are squares of what they should be"),
        (_weights()[:, [1, 1, 1]], "every head weighs as head 1 should"),
        (_weights()[:, [0, 2, 1]], "heads 1 to 2 of 3: head 1 weighs as head 2 should"),
        (
            np.repeat(_weights().mean(axis=1, keepdims=True), 3, axis=1),
            "every head weighs by the mean of the weights of all heads",
        ),
    ],
)
def test_what_is_wrong_with_weights_is_told(made: np.ndarray, words: str) -> None:
    assert weight_words(made, SCORES) == words
