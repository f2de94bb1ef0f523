# bug: one maximum per tile of queries in place of one per row
# caught by: accuracy, causality
"""FlashAttention forward pass in NumPy (inference side of Dao et al., 2022), all heads at once.

Notation follows the paper: Br = Bc = tile_size, S_ij = Q_i K_j^T / sqrt(D), and for every query tile i we carry

    O~_i   unnormalised output          (B, H, Br, D)
    l_i    normaliser                   (B, H, Br)
    m_i    reference of the exponent    (B, H, 1)

The exponent reference only has to be the same in O~ and l, because it cancels in O = O~ / l.  It follows the
largest score met so far, and the two accumulators are scaled down by exp(m_old - m_new) when it moves.

Work above the diagonal is not done: key tiles that start after the last query of the tile are never visited, and
only tiles that the diagonal crosses build a mask.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class FlashOutput:
    """Result of the forward pass.  `O` is what attention returns; `L` is the log-sum-exp for a backward pass."""

    O: np.ndarray
    L: np.ndarray
    tiles_visited: int = 0


class OnlineSoftmax:
    """Running (O~, l, m) of one query tile."""

    def __init__(self, batch: int, heads: int, rows: int, dim: int, dtype: np.dtype):
        self.O = np.zeros((batch, heads, rows, dim), dtype)
        self.l = np.zeros((batch, heads, rows), dtype)
        self.m = np.full((batch, heads, 1), -np.inf, dtype)

    def update(self, S: np.ndarray, V: np.ndarray) -> None:
        """Absorb one tile of (masked) scores and its values."""
        m_new = np.maximum(self.m, S.max(axis=(-2, -1))[..., None])
        base = np.where(np.isneginf(m_new), 0, m_new)       # nothing visible yet: avoid -inf - (-inf)
        decay = np.exp(self.m - base)
        P = np.exp(S - base[..., None])
        self.l = decay * self.l + P.sum(axis=-1)
        self.O = decay[..., None] * self.O + P @ V
        self.m = m_new

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Normalise; rows without a visible key give O = 0 and L = -inf."""
        seen = self.l > 0
        l = np.where(seen, self.l, 1)
        return self.O / l[..., None], np.where(seen, self.m + np.log(l), -np.inf)


def _tile_bounds(n: int, tile: int):
    return [(a, min(a + tile, n)) for a in range(0, n, tile)]


def flash_attention_fwd(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    tile_size: int,
    causal: bool = True,
) -> FlashOutput:
    """Exact attention without the (N, N) matrix.  Q, K, V: (B, H, N, D)."""
    B, H, N, D = Q.shape
    if K.shape != Q.shape or V.shape[:3] != (B, H, N):
        raise ValueError("Q, K and V must agree in (B, H, N)")
    if tile_size < 1:
        raise ValueError("tile_size must be at least 1")
    work = np.promote_types(Q.dtype, np.float32)
    scale = work.type(1.0 / math.sqrt(D))
    O = np.empty((B, H, N, V.shape[-1]), Q.dtype)
    L = np.empty((B, H, N), work)
    visited = 0

    for q0, q1 in _tile_bounds(N, tile_size):
        Qi = Q[:, :, q0:q1].astype(work) * scale
        state = OnlineSoftmax(B, H, q1 - q0, V.shape[-1], work)
        for k0, k1 in _tile_bounds(N, tile_size):
            if causal and k0 >= q1:
                break
            S = Qi @ K[:, :, k0:k1].astype(work, copy=False).swapaxes(-1, -2)
            if causal and k1 - 1 > q0:
                ahead = np.arange(k0, k1) > np.arange(q0, q1)[:, None]
                S = np.where(ahead, work.type(-np.inf), S)
            state.update(S, V[:, :, k0:k1].astype(work, copy=False))
            visited += 1
        O[:, :, q0:q1], L[:, :, q0:q1] = state.finish()
    return FlashOutput(O, L, visited)
