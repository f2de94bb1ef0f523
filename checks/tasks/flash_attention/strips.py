"""The reference for long sequences, a strip of rows at a time: the engine holds no N × N array either."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judge_tui.checks.tasks.flash_attention.cases import Case
from judge_tui.checks.tasks.flash_attention.reference import Array

__all__ = ["attention_in_strips", "weights_in_strips"]

_ROWS = 128


def attention_in_strips(case: Case) -> Array:
    """O (B, H, N, D) in float64; every row has to see a key."""
    v = case.v.astype(np.float64)
    parts = [weights @ v[:, :, : weights.shape[-1]] for _rows, weights in weights_in_strips(case)]
    return np.concatenate(parts, axis=2)


def weights_in_strips(case: Case) -> Iterator[tuple[slice, Array]]:
    """Rows and their softmax weights (B, H, rows, keys), float64; keys that none of them sees left out.

    Args:
        case: Inputs of finite scores.
    """
    length, scale = case.q.shape[2], float(case.q.shape[3]) ** -0.5
    q, k = case.q.astype(np.float64), case.k.astype(np.float64)
    for start in range(0, length, _ROWS):
        rows = slice(start, min(start + _ROWS, length))
        keys = rows.stop if case.causal else length
        scores = q[:, :, rows] @ k[:, :, :keys].swapaxes(-1, -2) * scale
        if case.causal:
            scores[..., np.arange(keys) > np.arange(rows.start, rows.stop)[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        yield rows, weights / weights.sum(axis=-1, keepdims=True)
