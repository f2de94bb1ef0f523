"""Attention as a row of steps, each of which may be rounded: how code of a lower precision deviates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.precision import Rounding

__all__ = ["attention_in_steps", "scores_in_steps"]

Array = npt.NDArray[Any]
_TWO = math.log2(math.e)


def scores_in_steps(by: Rounding, q: Array, k: Array, hidden: npt.NDArray[np.bool_] | None = None) -> Array:
    """QKᵀ/√D; the scale may stand on either side, and in base two.

    Args:
        by: What every step goes through.
        q: Queries (…, T, D), float64.
        k: Keys (…, S, D), float64.
        hidden: (T, S), which scores are −inf.

    Returns:
        (…, T, S).
    """
    scale = q.shape[-1] ** -0.5
    # Scales are taken off again, so that every way of scaling is a step of one formula.
    queries = by("Q·log₂e/√D", by("Q/√D", by("Q in QKᵀ", q) * scale) * _TWO) / _TWO
    keys = by("K·log₂e/√D", by("K/√D", by("K in QKᵀ", k) * scale) * _TWO) / (_TWO * scale)
    scores = by("QKᵀ/√D", by("QKᵀ", queries @ np.swapaxes(keys, -1, -2) / scale) * scale)
    return np.asarray(scores if hidden is None else np.where(hidden, -np.inf, scores))


def attention_in_steps(
    by: Rounding, q: Array, k: Array, v: Array, hidden: npt.NDArray[np.bool_] | None = None
) -> Array:
    """softmax(QKᵀ/√D)V of rows that each see a key, with its maximum taken off and l divided by last.

    Args:
        by: What every step goes through.
        q: Queries (…, T, D), float64.
        k: Keys (…, S, D), float64.
        v: Values, as ``k``.
        hidden: (T, S), which scores are −inf.
    """
    scores = scores_in_steps(by, by("Q", q), by("K", k), hidden)
    weights = by("P", np.exp(by("S − m", scores - scores.max(axis=-1, keepdims=True))))
    total = by("l", weights.sum(axis=-1, keepdims=True))
    weights = by("P/l", weights / total) * total
    return by("O", by("PV", weights @ by("V", v)) / total)
