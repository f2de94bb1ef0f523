# style: one head at a time, (N, D); the cache is an object with slots
# warns: accuracy (it takes one head at a time)
# slow: peak_memory
import numpy as np


class Saved:
    __slots__ = ("K", "L", "O", "Q", "V")

    def __init__(self, Q, K, V, O, L):
        self.Q, self.K, self.V, self.O, self.L = Q, K, V, O, L


def _s(q, k, i, j, causal):
    s = q @ k.T * (1.0 / np.sqrt(q.shape[1]))
    if causal:
        s = s + np.where(np.arange(j, j + len(k))[None, :] <= np.arange(i, i + len(q))[:, None], 0.0, -np.inf)
    return s


def flash_attention_fwd(Q, K, V, tile_size=16, causal=True):
    n = Q.shape[0]
    O, L = np.zeros_like(Q), np.zeros(n)
    for i in range(0, n, tile_size):
        q = Q[i:i + tile_size]
        m, l, o = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros(q.shape)
        for j in range(0, n, tile_size):
            if causal and j >= i + len(q):
                break
            s = _s(q, K[j:j + tile_size], i, j, causal)
            new = np.maximum(m, s.max(axis=1))
            at = np.where(new > -np.inf, new, 0.0)
            p = np.exp(s - at[:, None])
            f = np.exp(m - at)
            l, o, m = l * f + p.sum(axis=1), o * f[:, None] + p @ V[j:j + tile_size], new
        O[i:i + tile_size] = o / np.where(l == 0, 1.0, l)[:, None]
        L[i:i + tile_size] = np.where(l == 0, -np.inf, m + np.log(np.where(l == 0, 1.0, l)))
    return O, Saved(Q, K, V, O, L)


def flash_attention_bwd(dO, saved, tile_size=16, causal=True):
    Q, K, V, O, L = saved.Q, saved.K, saved.V, saved.O, saved.L
    n, d = Q.shape
    dQ, dK, dV = np.zeros((n, d)), np.zeros((n, d)), np.zeros((n, d))
    row = np.einsum("nd,nd->n", dO, O)
    at = np.where(L == -np.inf, 0.0, L)
    for i in range(0, n, tile_size):
        a = slice(i, min(i + tile_size, n))
        for j in range(0, n, tile_size):
            b = slice(j, min(j + tile_size, n))
            if causal and b.start >= a.stop:
                break
            p = np.exp(_s(Q[a], K[b], i, j, causal) - at[a, None])
            dV[b] += p.T @ dO[a]
            ds = p * (dO[a] @ V[b].T - row[a, None]) / np.sqrt(d)
            dQ[a] += ds @ K[b]
            dK[b] += ds.T @ Q[a]
    return dQ, dK, dV
