# bug: what is kept as L is in base 2, by methods that functions only hand on to
# caught by: logsumexp
# passes: accuracy, gradients
"""Flash attention with base-2 exponentials, forward and backward."""

import numpy as np

LOG2E = 1.4426950408889634
LN2 = 0.6931471805599453


class FlashAttention:
    def __init__(self, tile_size=64, causal=True):
        self.tile_size, self.causal = tile_size, causal

    def _logits2(self, q, k, i, j, d):
        s = (q @ np.swapaxes(k, -1, -2)) * q.dtype.type(LOG2E / np.sqrt(d))
        if self.causal:
            hidden = np.arange(j, j + k.shape[-2])[None, :] > np.arange(i, i + q.shape[-2])[:, None]
            s = np.where(hidden, q.dtype.type(-np.inf), s)
        return s

    def forward(self, Q, K, V):
        t, (N, D) = self.tile_size, Q.shape[-2:]
        O = np.zeros_like(Q)
        L = np.full(Q.shape[:-1], -np.inf, dtype=Q.dtype)
        for i in range(0, N, t):
            q = Q[..., i : i + t, :]
            m = np.full(q.shape[:-1] + (1,), -np.inf, dtype=Q.dtype)
            l, acc = np.zeros_like(m), np.zeros_like(q)
            for j in range(0, min(N, i + t) if self.causal else N, t):
                s = self._logits2(q, K[..., j : j + t, :], i, j, D)
                new = np.maximum(m, s.max(-1, keepdims=True))
                ref = np.where(np.isneginf(new), Q.dtype.type(0), new)
                p, f = np.exp2(s - ref), np.exp2(m - ref)
                l = l * f + p.sum(-1, keepdims=True)
                acc = acc * f + p @ V[..., j : j + t, :]
                m = new
            seen = l > 0
            O[..., i : i + t, :] = np.where(seen, acc / np.where(seen, l, 1), 0)
            lse2 = np.where(seen, m + np.log2(np.where(seen, l, 1)), -np.inf)
            L[..., i : i + t] = lse2[..., 0]
        return O, (O, L, Q, K, V)

    def backward(self, dO, cache):
        O, L, Q, K, V = cache
        t, (N, D) = self.tile_size, Q.shape[-2:]
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        rowsum = (dO * O).sum(-1, keepdims=True)
        scale = Q.dtype.type(1 / np.sqrt(D))
        for j in range(0, N, t):
            k, v = K[..., j : j + t, :], V[..., j : j + t, :]
            for i in range(j if self.causal else 0, N, t):
                q, g = Q[..., i : i + t, :], dO[..., i : i + t, :]
                lse2 = L[..., i : i + t, None]
                empty = np.isneginf(lse2)
                p = np.where(
                    empty, 0, np.exp2(self._logits2(q, k, i, j, D) - np.where(empty, 0, lse2))
                ).astype(Q.dtype)
                dV[..., j : j + t, :] += np.swapaxes(p, -1, -2) @ g
                ds = p * (g @ np.swapaxes(v, -1, -2) - rowsum[..., i : i + t, :]) * scale
                dQ[..., i : i + t, :] += ds @ k
                dK[..., j : j + t, :] += np.swapaxes(ds, -1, -2) @ q
        return dQ, dK, dV


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    return FlashAttention(tile_size, causal).forward(Q, K, V)


def flash_attention_bwd(dO, cache, tile_size=64, causal=True):
    return FlashAttention(tile_size, causal).backward(dO, cache)
