"""The backward that a submission is timed against: one walk in the same tiles, NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["call", "prepare"]


def prepare(q: Any, k: Any, v: Any) -> tuple[Any, ...]:
    """Q, K, V, O (B, H, N, D) and L (B, H, N, 1) of causal attention."""
    scores = q @ k.swapaxes(-1, -2) * float(q.shape[-1]) ** -0.5
    scores[..., np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    lse = top + np.log(np.exp(scores - top).sum(axis=-1, keepdims=True))
    return q, k, v, np.exp(scores - lse) @ v, lse


def call(d_out: Any, tile: int, cache: tuple[Any, ...]) -> Any:
    """The gradient by V (B, H, N, D), causal, dQ and dK computed on the way; no tile above the diagonal."""
    q, k, v, out, lse = cache
    length, scale = q.shape[2], float(q.shape[3]) ** -0.5
    d_q, d_k, d_v = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    delta = (d_out * out).sum(axis=-1, keepdims=True)
    for row in range(0, length, tile):
        rows = slice(row, min(row + tile, length))
        for column in range(0, rows.stop, tile):
            columns = slice(column, min(column + tile, length))
            weights = np.exp(q[:, :, rows] @ k[:, :, columns].swapaxes(-1, -2) * scale - lse[:, :, rows])
            if columns.stop > row + 1:
                hidden = np.arange(column, columns.stop) > np.arange(row, rows.stop)[:, None]
                weights = np.where(hidden, 0.0, weights)
            d_p = d_out[:, :, rows] @ v[:, :, columns].swapaxes(-1, -2)
            d_s = weights * (d_p - delta[:, :, rows]) * scale
            d_v[:, :, columns] += weights.swapaxes(-1, -2) @ d_out[:, :, rows]
            d_k[:, :, columns] += d_s.swapaxes(-1, -2) @ q[:, :, rows]
            d_q[:, :, rows] += d_s @ k[:, :, columns]
    return d_v
