# right: takes one head (N, D), and gives the function that makes its gradients
# only: gradients, logsumexp, cache_minimality, kv_passes
import numpy as np


def flash_attention_vjp(Q, K, V, tile_size=64, causal=True):
    """Q, K, V (N, D). Returns O, and a function from dO to (dQ, dK, dV)."""
    N, D = Q.shape
    scale = 1 / np.sqrt(D)
    O = np.zeros_like(V, dtype=np.float64)
    L = np.full(N, -np.inf)

    def scores(a, b, lo, hi):
        s = (Q[a:b] @ K[lo:hi].T) * scale
        if causal:
            s = np.where(np.arange(lo, min(hi, N))[None] > np.arange(a, min(b, N))[:, None], -np.inf, s)
        return s

    for a in range(0, N, tile_size):
        b = min(N, a + tile_size)
        m = np.full(b - a, -np.inf)
        l = np.zeros(b - a)
        acc = np.zeros((b - a, V.shape[1]))
        for lo in range(0, b if causal else N, tile_size):
            hi = min(N, lo + tile_size)
            s = scores(a, b, lo, hi)
            new = np.maximum(m, s.max(1))
            piv = np.where(np.isfinite(new), new, 0)
            p = np.exp(s - piv[:, None])
            c = np.exp(m - piv)
            l = l * c + p.sum(1)
            acc = acc * c[:, None] + p @ V[lo:hi]
            m = new
        ok = l > 0
        O[a:b] = np.where(ok[:, None], acc / np.where(ok, l, 1)[:, None], 0)
        L[a:b] = np.where(ok, m + np.log(np.where(ok, l, 1)), -np.inf)

    def backward(dO, tile_size=tile_size):
        dQ, dK, dV = np.zeros((N, D)), np.zeros((N, D)), np.zeros(V.shape)
        delta = (dO * O).sum(1)
        for a in range(0, N, tile_size):
            b = min(N, a + tile_size)
            piv = np.where(np.isfinite(L[a:b]), L[a:b], 0)
            for lo in range(0, b if causal else N, tile_size):
                hi = min(N, lo + tile_size)
                p = np.exp(scores(a, b, lo, hi) - piv[:, None])
                dV[lo:hi] += p.T @ dO[a:b]
                ds = p * (dO[a:b] @ V[lo:hi].T - delta[a:b, None]) * scale
                dQ[a:b] += ds @ K[lo:hi]
                dK[lo:hi] += ds.T @ Q[a:b]
        return dQ, dK, dV

    return O, backward
