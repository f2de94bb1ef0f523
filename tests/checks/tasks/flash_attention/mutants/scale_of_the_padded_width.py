# bug: scores are scaled by the width that lanes are padded to
# caught by: accuracy
"""Flash attention (forward) with explicitly staged tiles.

The structure follows a GPU kernel: tiles of Q, K and V are copied from "global
memory" into small, reused staging buffers ("shared memory") whose rows are
padded with zeros to a whole number of vector lanes, scores and the online
softmax live in "registers", and only finished output rows are written back.
"""
import math

import numpy as np

LANES = 8  # row length of every staging buffer is a multiple of this


def _round_up(n, multiple):
    return -(-n // multiple) * multiple


class StagedTile:
    """A (rows, padded width) buffer that tiles are loaded into."""

    def __init__(self, rows, width, dtype):
        self.width = width
        self.buffer = np.zeros((rows, _round_up(width, LANES)), dtype=dtype)

    @property
    def lanes(self):
        return self.buffer.shape[1]

    def load(self, source, start, stop):
        """Copy source[start:stop]; padding lanes stay zero. Returns the live rows."""
        live = self.buffer[: stop - start]
        live[:, : self.width] = source[start:stop]
        return live


class OnlineSoftmax:
    """Running maximum, normaliser and weighted value sum for a tile of rows."""

    def __init__(self, rows, lanes, dtype):
        self.m = np.full((rows, 1), -np.inf, dtype=dtype)
        self.l = np.zeros((rows, 1), dtype=dtype)
        self.o = np.zeros((rows, lanes), dtype=dtype)

    def update(self, scores, values):
        m_new = np.maximum(self.m, scores.max(axis=1, keepdims=True))
        shift = np.where(np.isneginf(m_new), 0, m_new).astype(scores.dtype)
        correction = np.exp(self.m - shift)      # 0 for rows that were empty so far
        p = np.exp(scores - shift)
        self.l = self.l * correction + p.sum(axis=1, keepdims=True)
        self.o = self.o * correction + p @ values
        self.m = m_new

    def result(self):
        return self.o / np.where(self.l > 0, self.l, 1).astype(self.l.dtype)


class FlashAttention:
    """Callable attention operator with a fixed tile size.

    >>> attention = FlashAttention(tile_size=64, causal=True)
    >>> out = attention(Q, K, V)                      # (B, H, N, D)
    """

    def __init__(self, tile_size=64, causal=True):
        if tile_size < 1:
            raise ValueError("tile_size must be at least 1")
        self.tile_size = int(tile_size)
        self.causal = bool(causal)

    def __call__(self, Q, K, V):
        Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
        if Q.ndim != 4 or Q.shape[:2] != K.shape[:2] or K.shape[:3] != V.shape[:3]:
            raise ValueError("Q, K, V must be (B, H, N, D)")
        dtype = np.result_type(Q, K, V, np.float32)
        out = np.zeros(Q.shape[:3] + V.shape[3:], dtype=dtype)
        for b, h in np.ndindex(*Q.shape[:2]):
            self._head(Q[b, h], K[b, h], V[b, h], out[b, h])
        return out.astype(Q.dtype, copy=False) if Q.dtype.kind == "f" else out

    def _head(self, Q, K, V, out):
        """Attention of a single head, written to ``out`` tile by tile."""
        tile, dtype = self.tile_size, out.dtype
        n_q, n_k = len(Q), len(K)
        rows = min(tile, max(n_q, n_k))
        sq = StagedTile(rows, Q.shape[1], dtype)
        sk = StagedTile(rows, K.shape[1], dtype)
        sv = StagedTile(rows, V.shape[1], dtype)
        scale = dtype.type(1.0 / math.sqrt(sq.lanes))
        for q0 in range(0, n_q, tile):
            q1 = min(q0 + tile, n_q)
            q = sq.load(Q, q0, q1)
            q *= scale                                # staged copy, not the input
            state = OnlineSoftmax(q1 - q0, sv.lanes, dtype)
            limit = min(q1, n_k) if self.causal else n_k
            for k0 in range(0, limit, tile):
                k1 = min(k0 + tile, n_k)
                scores = q @ sk.load(K, k0, k1).T
                if self.causal and k1 - 1 > q0:
                    self._hide_future(scores, q0, k0)
                state.update(scores, sv.load(V, k0, k1))
            out[q0:q1] = state.result()[:, : V.shape[1]]

    @staticmethod
    def _hide_future(scores, q0, k0):
        rows = q0 + np.arange(scores.shape[0])[:, None]
        cols = k0 + np.arange(scores.shape[1])[None, :]
        scores[cols > rows] = -np.inf


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    """Functional front end: softmax(Q K^T / sqrt(D)) V, tiled."""
    return FlashAttention(tile_size, causal)(Q, K, V)
