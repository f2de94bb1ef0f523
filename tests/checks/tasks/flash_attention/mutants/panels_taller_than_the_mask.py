# bug: past six tiles a panel of queries is two tiles tall, and only tiles that reach its end are masked
# caught by: accuracy, causality
"""Flash-style attention forward pass: query panels x key tiles, online softmax.

All batches and heads are folded into one leading axis and handled by batched
matmuls.  For long sequences the query panel is twice as tall as the key tile,
which halves the number of times K and V are streamed from memory.
"""

from dataclasses import dataclass

import numpy as np

#: sequences with more key tiles than this use double-height query panels
TALL_PANEL_THRESHOLD = 6


@dataclass(frozen=True)
class Plan:
    """Tiling of one problem."""

    seq_len: int
    panel: int  # queries per panel
    tile: int  # keys per tile
    causal: bool

    @classmethod
    def make(cls, seq_len: int, tile_size: int, causal: bool) -> "Plan":
        tile = max(1, min(int(tile_size), seq_len))
        n_tiles = -(-seq_len // tile)
        panel = 2 * tile if n_tiles > TALL_PANEL_THRESHOLD else tile
        return cls(seq_len, panel, tile, causal)

    def panels(self):
        """Query panels as (q0, q1)."""
        for q0 in range(0, self.seq_len, self.panel):
            yield q0, min(q0 + self.panel, self.seq_len)

    def key_tiles(self, q1: int):
        """Key tiles as (k0, k1) that a panel ending at q1 has to visit."""
        end = q1 if self.causal else self.seq_len
        for k0 in range(0, end, self.tile):
            yield k0, min(k0 + self.tile, self.seq_len)

    def needs_mask(self, q0: int, q1: int, k0: int, k1: int) -> bool:
        """Only tiles on the diagonal are masked; those left of it are dense."""
        return self.causal and k1 >= q1


def _masked(scores, q0, k0):
    """Hide keys that lie in the future of their query."""
    rows = q0 + np.arange(scores.shape[-2])[:, None]
    cols = k0 + np.arange(scores.shape[-1])[None, :]
    return np.where(cols > rows, scores.dtype.type(-np.inf), scores)


def _panel_forward(qp, k, v, plan, q0, q1):
    """Attention output and log-sum-exp of one query panel; qp is pre-scaled."""
    dtype = qp.dtype
    m = np.full(qp.shape[:2] + (1,), -np.inf, dtype)
    l = np.zeros_like(m)
    acc = np.zeros(qp.shape[:2] + (v.shape[-1],), dtype)
    for k0, k1 in plan.key_tiles(q1):
        s = np.matmul(qp, k[:, k0:k1].transpose(0, 2, 1))
        if plan.needs_mask(q0, q1, k0, k1):
            s = _masked(s, q0, k0)
        m_next = np.maximum(m, s.max(axis=-1, keepdims=True))
        pivot = np.where(np.isfinite(m_next), m_next, dtype.type(0))
        p = np.exp(s - pivot)
        correction = np.exp(m - pivot)
        l = l * correction + p.sum(axis=-1, keepdims=True)
        acc = acc * correction + np.matmul(p, v[:, k0:k1])
        m = m_next
    empty = l == 0
    denom = np.where(empty, dtype.type(1), l)
    lse = np.where(empty, dtype.type(-np.inf), m + np.log(denom))
    return acc / denom, lse[..., 0]


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True, return_lse=False):
    """softmax(Q K^T / sqrt(D)) V for (B, H, N, D) inputs.

    Returns O (B, H, N, D), or (O, LSE) with LSE (B, H, N) if ``return_lse``.
    Memory beyond the output is O(B * H * tile_size * (tile_size + D)).
    """
    B, H, N, D = Q.shape
    dtype = np.promote_types(np.result_type(Q, K, V), np.float32)
    plan = Plan.make(N, tile_size, bool(causal))
    scale = dtype.type(D**-0.5)
    q, k, v = (np.asarray(x, dtype).reshape(B * H, N, x.shape[-1]) for x in (Q, K, V))

    out = np.empty((B * H, N, v.shape[-1]), dtype)
    lse = np.empty((B * H, N), dtype)
    for q0, q1 in plan.panels():
        out[:, q0:q1], lse[:, q0:q1] = _panel_forward(q[:, q0:q1] * scale, k, v, plan, q0, q1)
    out = out.reshape(B, H, N, -1)
    return (out, lse.reshape(B, H, N)) if return_lse else out


def reference_attention(Q, K, V, causal):
    """Dense attention, for testing."""
    s = Q @ K.swapaxes(-1, -2) * Q.shape[-1] ** -0.5
    if causal:
        s = _masked(s, 0, 0)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p @ V / p.sum(-1, keepdims=True)
