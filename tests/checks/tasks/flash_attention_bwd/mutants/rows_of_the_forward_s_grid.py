# bug: the row sums of dO · O are taken over the forward's count of tiles at the backward's size: later rows get none
# caught by: gradients
# passes: accuracy, logsumexp
"""
Flash attention forward + backward, laid out as kernel launches.

    fwd_kernel           one block per query tile:  O, L
    bwd_preprocess       one block per query tile:  delta = rowsum(dO * O)
    bwd_kernel           one block per key tile:    dK, dV in "registers", dQ by "atomicAdd"

Every kernel works on one (batch, head) pair with 2-D operands.
"""
from typing import Tuple

import numpy as np

NEG_INF = float("-inf")


class Plan:
    """Launch parameters: tile edge and number of tiles along the sequence."""

    __slots__ = ("tile", "n_tiles")

    def __init__(self, n: int, tile: int):
        if tile < 1:
            raise ValueError("tile_size must be >= 1")
        self.tile = int(tile)
        self.n_tiles = (n + self.tile - 1) // self.tile

    def span(self, index: int, n: int) -> Tuple[int, int]:
        lo = index * self.tile
        return lo, min(lo + self.tile, n)


def _tile_scores(q, k, q0, k0, scale, causal):
    s = (q @ k.T) * scale
    if causal and k0 + k.shape[0] - 1 > q0:
        cols = k0 + np.arange(k.shape[0])
        rows = q0 + np.arange(q.shape[0])
        s[cols[None, :] > rows[:, None]] = NEG_INF
    return s


def fwd_kernel(block, plan, q, k, v, o, lse, scale, causal):
    n = q.shape[0]
    q0, q1 = plan.span(block, n)
    m = np.full(q1 - q0, NEG_INF, o.dtype)
    l = np.zeros(q1 - q0, o.dtype)
    acc = np.zeros((q1 - q0, v.shape[1]), o.dtype)
    last = block + 1 if causal else plan.n_tiles
    for j in range(last):
        k0, k1 = plan.span(j, n)
        s = _tile_scores(q[q0:q1], k[k0:k1], q0, k0, scale, causal)
        m_new = np.maximum(m, s.max(axis=1))
        base = np.where(m_new == NEG_INF, 0, m_new).astype(o.dtype)
        p = np.exp(s - base[:, None])
        corr = np.exp(m - base)
        l = corr * l + p.sum(axis=1)
        acc = corr[:, None] * acc + p @ v[k0:k1]
        m = m_new
    live = l > 0
    denom = np.where(live, l, 1).astype(o.dtype)
    o[q0:q1] = acc / denom[:, None]
    lse[q0:q1] = np.where(live, m + np.log(denom), NEG_INF)


def bwd_preprocess(block, tile, do, o, delta):
    rows = slice(block * tile, (block + 1) * tile)
    delta[rows] = np.einsum("nd,nd->n", do[rows], o[rows])


def bwd_kernel(block, plan, q, k, v, do, lse, delta, dq, dk, dv, scale, causal):
    n = q.shape[0]
    k0, k1 = plan.span(block, n)
    kj, vj = k[k0:k1], v[k0:k1]
    dk_acc = np.zeros_like(dk[k0:k1])
    dv_acc = np.zeros_like(dv[k0:k1])
    first = block if causal else 0
    for i in range(first, plan.n_tiles):
        q0, q1 = plan.span(i, n)
        qi, doi = q[q0:q1], do[q0:q1]
        base = np.where(lse[q0:q1] == NEG_INF, 0, lse[q0:q1]).astype(q.dtype)
        p = np.exp(_tile_scores(qi, kj, q0, k0, scale, causal) - base[:, None])
        dv_acc += p.T @ doi
        ds = p * (doi @ vj.T - delta[q0:q1, None])
        dk_acc += ds.T @ qi
        dq[q0:q1] += scale * (ds @ kj)
    dk[k0:k1] = scale * dk_acc
    dv[k0:k1] = dv_acc


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """Q, K, V: (B, H, N, D).  Returns (O, cache)."""
    B, H, N, D = Q.shape
    plan = Plan(N, tile_size)
    dtype = np.result_type(Q, K, V)
    O = np.empty((B, H, N, V.shape[3]), dtype)
    L = np.empty((B, H, N), dtype)
    scale = dtype.type(1.0 / np.sqrt(D))
    for b in range(B):
        for h in range(H):
            for block in range(plan.n_tiles):
                fwd_kernel(block, plan, Q[b, h], K[b, h], V[b, h], O[b, h], L[b, h], scale, causal)
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V, "plan": plan}


def flash_attention_bwd(dO, cache, tile_size=None, causal=True):
    """Returns (dQ, dK, dV).  tile_size: the tile of the forward launch unless given."""
    Q, K, V, O, L = (cache[name] for name in ("Q", "K", "V", "O", "L"))
    plan = cache["plan"]
    B, H, N, D = Q.shape
    tile = plan.tile if tile_size is None else int(tile_size)
    grid = plan.n_tiles
    scale = Q.dtype.type(1.0 / np.sqrt(D))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    delta = np.zeros((B, H, N), Q.dtype)
    for b in range(B):
        for h in range(H):
            for block in range(grid):
                bwd_preprocess(block, tile, dO[b, h], O[b, h], delta[b, h])

    if tile != plan.tile:
        plan = Plan(N, tile)
    for b in range(B):
        for h in range(H):
            for block in range(plan.n_tiles):
                bwd_kernel(block, plan, Q[b, h], K[b, h], V[b, h], dO[b, h], L[b, h],
                           delta[b, h], dQ[b, h], dK[b, h], dV[b, h], scale, causal)
    return dQ, dK, dV
