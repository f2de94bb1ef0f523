# bug: float64 input is computed in float32
# warned by: gradients, accuracy, gradient_identities, logsumexp
# passes: masked_rows, cache_minimality
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    Q, K, V = (x.astype(np.float32) for x in (Q, K, V))
    B, H, N, D = Q.shape
    scale = np.float32(1.0 / np.sqrt(D))
    O, L = np.zeros(Q.shape, np.float32), np.zeros((B, H, N), np.float32)
    for b in range(B):
        for h in range(H):
            for i in range(0, N, tile_size):
                q = Q[b, h, i:i + tile_size]
                m, l, acc = np.full(len(q), -np.inf, np.float32), np.zeros(len(q), np.float32), np.zeros(q.shape, np.float32)
                for j in range(0, N, tile_size):
                    if causal and j > i + len(q) - 1:
                        break
                    s = q @ K[b, h, j:j + tile_size].T * scale
                    if causal:
                        s = np.where(np.arange(j, j + s.shape[1]) > np.arange(i, i + len(q))[:, None], -np.inf, s)
                    m_new = np.maximum(m, s.max(axis=1))
                    ref = np.where(np.isneginf(m_new), 0.0, m_new)
                    p = np.exp(s - ref[:, None])
                    alpha = np.exp(m - ref)
                    l = l * alpha + p.sum(axis=1)
                    acc = acc * alpha[:, None] + p @ V[b, h, j:j + tile_size]
                    m = m_new
                safe = np.where(l > 0, l, 1.0)
                O[b, h, i:i + tile_size] = acc / safe[:, None]
                L[b, h, i:i + tile_size] = np.where(l > 0, m + np.log(safe), -np.inf)
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    O, L, Q, K, V = (cache[name] for name in "OLQKV")
    B, H, N, D = Q.shape
    scale = np.float32(1.0 / np.sqrt(D))
    dO = dO.astype(np.float32)
    dQ, dK, dV = (np.zeros(Q.shape, np.float32) for _ in range(3))
    for b in range(B):
        for h in range(H):
            for i in range(0, N, tile_size):
                rows = slice(i, min(i + tile_size, N))
                q, g = Q[b, h, rows], dO[b, h, rows]
                lse = L[b, h, rows]
                lse = np.where(np.isneginf(lse), 0.0, lse)[:, None]
                row = (g * O[b, h, rows]).sum(axis=1, keepdims=True)
                for j in range(0, N, tile_size):
                    cols = slice(j, min(j + tile_size, N))
                    if causal and j > rows.stop - 1:
                        break
                    k, v = K[b, h, cols], V[b, h, cols]
                    s = q @ k.T * scale
                    if causal:
                        s = np.where(np.arange(j, cols.stop) > np.arange(i, rows.stop)[:, None], -np.inf, s)
                    p = np.exp(s - lse)
                    dp = g @ v.T
                    ds = p * (dp - row)
                    dV[b, h, cols] += p.T @ g
                    dK[b, h, cols] += ds.T @ q * scale
                    dQ[b, h, rows] += ds @ k * scale
    return dQ, dK, dV
