# bug: dV is stored in slabs of 32 columns, and what is left behind the last whole one is lost
# caught by: gradients
# passes: accuracy, logsumexp
"""FlashAttention-2 style forward and backward on NumPy arrays (B, H, N, D)."""

import math
import numpy as np

REDUCE_COLS = 32  # gradients leave the accumulator in slabs of this many columns


def _mask(s, r0, c0):
    r = np.arange(r0, r0 + s.shape[-2])[:, None]
    c = np.arange(c0, c0 + s.shape[-1])[None, :]
    return np.where(c > r, -np.inf, s)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    N, D = Q.shape[2:]
    scale = 1.0 / math.sqrt(D)
    O = np.zeros_like(Q)
    L = np.full(Q.shape[:3], -np.inf, dtype=Q.dtype)
    for r0 in range(0, N, tile_size):
        r1 = min(N, r0 + tile_size)
        Qi = Q[:, :, r0:r1]
        m = np.full(Qi.shape[:3], -np.inf, dtype=Q.dtype)
        l = np.zeros_like(m)
        acc = np.zeros_like(Qi)
        for c0 in range(0, r1 if causal else N, tile_size):
            c1 = min(N, c0 + tile_size)
            S = (Qi @ K[:, :, c0:c1].swapaxes(-1, -2)) * Q.dtype.type(scale)
            if causal:
                S = _mask(S, r0, c0)
            mn = np.maximum(m, S.max(-1))
            z = np.where(mn == -np.inf, 0, mn).astype(Q.dtype)
            f = np.exp(m - z)
            P = np.exp(S - z[..., None])
            l = f * l + P.sum(-1)
            acc = f[..., None] * acc + P @ V[:, :, c0:c1]
            m = mn
        some = l > 0
        l1 = np.where(some, l, 1)
        O[:, :, r0:r1] = acc / l1[..., None]
        L[:, :, r0:r1] = np.where(some, m + np.log(l1), -np.inf)
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def _store(dst, value):
    """Accumulate slab by slab."""
    width = value.shape[-1]
    slab = min(REDUCE_COLS, width)
    for s in range(width // slab):
        cols = slice(s * slab, (s + 1) * slab)
        dst[..., cols] += value[..., cols]


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    O, L, Q, K, V = (cache[x] for x in ("O", "L", "Q", "K", "V"))
    N, D = Q.shape[2:]
    scale = Q.dtype.type(1.0 / math.sqrt(D))
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    Dvec = np.sum(dO * O, axis=-1)
    for c0 in range(0, N, tile_size):
        c1 = min(N, c0 + tile_size)
        Kj, Vj = K[:, :, c0:c1], V[:, :, c0:c1]
        for r0 in range(c0 if causal else 0, N, tile_size):
            r1 = min(N, r0 + tile_size)
            S = (Q[:, :, r0:r1] @ Kj.swapaxes(-1, -2)) * scale
            if causal:
                S = _mask(S, r0, c0)
            Li = L[:, :, r0:r1, None]
            P = np.where(Li == -np.inf, 0, np.exp(S - np.where(Li == -np.inf, 0, Li))).astype(Q.dtype)
            G = dO[:, :, r0:r1]
            _store(dV[:, :, c0:c1], P.swapaxes(-1, -2) @ G)
            dS = P * (G @ Vj.swapaxes(-1, -2) - Dvec[:, :, r0:r1, None]) * scale
            dQ[:, :, r0:r1] += dS @ Kj
            dK[:, :, c0:c1] += dS.swapaxes(-1, -2) @ Q[:, :, r0:r1]
    return dQ, dK, dV
