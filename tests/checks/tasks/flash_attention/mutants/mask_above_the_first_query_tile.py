# bug: query tiles are cut to 16 rows and only key tiles that begin at or after a query tile are masked
# caught by: accuracy, causality
# passes: rescaling_direction, nan_masked_tiles
"""Flash-attention forward, laid out the way one would lay out the kernel.

grid  = (query fragments, heads, batches); one `cta()` call is one thread block.
A CTA owns FRAG_M query rows at most (one MMA fragment high), and streams key /
value tiles of `tile_n` rows through its "shared memory".
"""
import math

import numpy as np

FRAG_M = 16            # m of the m16n8k16 fragment: a taller query tile only spills registers


class Params:
    """Kernel arguments.  Nothing here is owned: o and lse are written in place."""
    __slots__ = ("q", "k", "v", "o", "lse", "tile_m", "tile_n", "seqlen", "scale", "causal")


def ceil_div(a, b):
    return -(-a // b)


def set_params(p, q, k, v, o, lse, tile, causal):
    if q.ndim != 4 or not (q.shape == k.shape == v.shape):
        raise ValueError("expected q, k, v of one shape (batch, heads, seqlen, headdim)")
    if tile <= 0:
        raise ValueError("tile must be positive")
    p.q, p.k, p.v, p.o, p.lse = q, k, v, o, lse
    p.seqlen = q.shape[2]
    p.tile_n = tile
    p.tile_m = min(tile, FRAG_M)
    p.scale = 1.0 / math.sqrt(q.shape[3])
    p.causal = causal
    return p


def softmax_step(s, m, l, acc):
    """Online softmax over one score tile; s becomes the probabilities in place."""
    m_new = np.maximum(m, s.max(axis=1))
    base = np.where(np.isneginf(m_new), 0.0, m_new)
    alpha = np.exp(m - base)
    s -= base[:, None]
    np.exp(s, out=s)
    l *= alpha
    l += s.sum(axis=1)
    acc *= alpha[:, None]
    return m_new


def cta(p, block_m, head, batch):
    """One thread block: query rows [m0, m1) of one head."""
    m0 = block_m * p.tile_m
    m1 = min(m0 + p.tile_m, p.seqlen)
    sq = p.q[batch, head, m0:m1].astype(np.float64) * p.scale
    m = np.full(m1 - m0, -np.inf)
    l = np.zeros(m1 - m0)
    acc = np.zeros((m1 - m0, sq.shape[1]))
    row = np.arange(m0, m1)

    # causal: keys past the last row of this block are never loaded
    n_stop = m1 if p.causal else p.seqlen
    for block_n in range(ceil_div(n_stop, p.tile_n)):
        n0 = block_n * p.tile_n
        n1 = min(n0 + p.tile_n, p.seqlen)
        s = sq @ p.k[batch, head, n0:n1].astype(np.float64).T
        if p.causal and n0 >= m0:
            # tiles on the diagonal; everything to the left is visible as it is
            col = np.arange(n0, n1)
            s[col[None, :] > row[:, None]] = -np.inf
        m = softmax_step(s, m, l, acc)
        acc += s @ p.v[batch, head, n0:n1].astype(np.float64)

    # epilogue: normalise; rows that saw nothing get 0 and an lse of -inf
    empty = l == 0.0
    l[empty] = 1.0
    p.o[batch, head, m0:m1] = acc / l[:, None]
    p.lse[batch, head, m0:m1] = np.where(empty, -np.inf, m + np.log(l))


def mha_fwd(q, k, v, tile=64, is_causal=True, out=None):
    """Attention over (batch, heads, seqlen, headdim) arrays.

    Returns (out, lse); `out` may be given to be written in place, and has the
    dtype of q otherwise.
    """
    q, k, v = (np.asarray(x) for x in (q, k, v))
    if out is None:
        out = np.empty(q.shape, q.dtype)
    lse = np.empty(q.shape[:3])
    p = set_params(Params(), q, k, v, out, lse, tile, is_causal)
    batch, heads = q.shape[:2]
    for b in range(batch):
        for h in range(heads):
            for block_m in range(ceil_div(p.seqlen, p.tile_m)):
                cta(p, block_m, h, b)
    return out, lse
