# style: the running softmax is an object with slots that works in place
"""
Flash attention (forward) in pure NumPy
=======================================

Exact attention without ever holding the (N, N) score matrix.  Two nested loops over tiles:

    for each query tile i:
        m, l, acc <- -inf, 0, 0
        for each key tile j (j <= i when causal):
            S   = Q_i K_j^T / sqrt(D)             (T, T)
            m'  = max(m, rowmax S)
            P   = exp(S - m')
            a   = exp(m - m')                     rescales what was accumulated under the old maximum
            l   = a * l + rowsum P
            acc = a * acc + P V_j
            m   = m'
        O_i = acc / l

Masked rows: when every score of a row so far is -inf, m' = -inf and S - m' = NaN.  The state therefore
subtracts ``safe_m`` (0 where m' is -inf), for which exp(-inf - 0) = 0 is what we want.

Memory: O(B * H * T * max(T, D)) beyond inputs and output.
"""
from __future__ import annotations

import math
from typing import Iterator, Tuple

import numpy as np


class OnlineSoftmaxState:
    """Running (max, normalizer, weighted sum) of one query tile."""

    __slots__ = ("row_max", "row_sum", "acc")

    def __init__(self, lead: Tuple[int, ...], rows: int, dim: int, dtype: np.dtype) -> None:
        self.row_max = np.full(lead + (rows, 1), -np.inf, dtype=dtype)
        self.row_sum = np.zeros(lead + (rows, 1), dtype=dtype)
        self.acc = np.zeros(lead + (rows, dim), dtype=dtype)

    def update(self, scores: np.ndarray, values: np.ndarray) -> None:
        new_max = np.maximum(self.row_max, scores.max(axis=-1, keepdims=True))
        safe = np.where(np.isneginf(new_max), 0.0, new_max).astype(scores.dtype, copy=False)
        correction = np.exp(self.row_max - safe)
        np.subtract(scores, safe, out=scores)
        np.exp(scores, out=scores)
        self.row_sum *= correction
        self.row_sum += scores.sum(axis=-1, keepdims=True)
        self.acc *= correction
        self.acc += scores @ values
        self.row_max = new_max

    def finish(self) -> np.ndarray:
        empty = self.row_sum == 0
        return np.divide(self.acc, self.row_sum, out=np.zeros_like(self.acc), where=~empty)


def _spans(length: int, tile: int) -> Iterator[slice]:
    for start in range(0, length, tile):
        yield slice(start, min(start + tile, length))


def flash_attention_fwd(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    tile_size: int,
    causal: bool = True,
) -> np.ndarray:
    """Tiled exact attention.

    Args:
        Q, K, V: (B, H, N, D)
        tile_size: rows of Q and of K per tile; may be larger than N and need not divide it
        causal: row i sees keys 0..i

    Returns:
        O: (B, H, N, D), dtype of Q
    """
    if Q.ndim != 4:
        raise ValueError("Q, K and V must be (B, H, N, D)")
    if tile_size < 1:
        raise ValueError("tile_size must be positive")
    batch, heads, n, dim = Q.shape
    scale = Q.dtype.type(1.0 / math.sqrt(dim))
    out = np.empty_like(Q)
    positions = np.arange(n)

    for rows in _spans(n, tile_size):
        state = OnlineSoftmaxState((batch, heads), rows.stop - rows.start, dim, Q.dtype)
        q = Q[:, :, rows] * scale
        for cols in _spans(K.shape[2], tile_size):
            if causal and cols.start > rows.stop - 1:
                break  # this tile and all later ones lie above the diagonal
            scores = np.matmul(q, K[:, :, cols].swapaxes(-1, -2))
            if causal and cols.stop - 1 > rows.start:
                hidden = positions[rows][:, None] < positions[cols][None, :]
                scores[..., hidden] = -np.inf
            state.update(scores, V[:, :, cols])
        out[:, :, rows] = state.finish()
    return out


def naive_attention(Q, K, V, causal=True):
    """Reference with the whole score matrix, for the tests only."""
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    if causal:
        n = Q.shape[2]
        scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    scores = scores - scores.max(-1, keepdims=True)
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True) @ V


def test_against_naive():
    rng = np.random.default_rng(7)
    for n, tile in [(1, 1), (7, 3), (64, 16), (65, 16), (20, 64)]:
        for causal in (True, False):
            q, k, v = (rng.normal(size=(2, 3, n, 8)) for _ in range(3))
            err = np.abs(flash_attention_fwd(q, k, v, tile, causal) - naive_attention(q, k, v, causal)).max()
            assert err < 1e-12, (n, tile, causal, err)


def test_rising_scores():
    n, d = 64, 4
    k = np.zeros((1, 1, n, d))
    k[..., 0] = np.arange(n)
    q = np.ones((1, 1, n, d))
    v = np.random.default_rng(0).normal(size=(1, 1, n, d))
    assert np.allclose(flash_attention_fwd(q, k, v, 8, False), naive_attention(q, k, v, False))


if __name__ == "__main__":
    import time
    import tracemalloc

    test_against_naive()
    test_rising_scores()
    print("tests passed")
    rng = np.random.default_rng(0)
    for n in (512, 1024, 2048):
        q, k, v = (rng.normal(size=(1, 1, n, 64)).astype(np.float32) for _ in range(3))
        tracemalloc.start()
        t0 = time.perf_counter()
        flash_attention_fwd(q, k, v, 128)
        dt = time.perf_counter() - t0
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"N={n:5d}  {dt * 1e3:8.1f} ms  peak {peak / 1e6:6.2f} MB  full scores {n * n * 4 / 1e6:6.2f} MB")
