# bug: dO is read in the order in which it lies in memory
# caught by: gradients
# passes: accuracy
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    B, H, N, D = Q.shape
    q3, k3, v3 = (np.ascontiguousarray(a).reshape(B * H, N, D) for a in (Q, K, V))
    o3 = np.zeros_like(q3)
    lse = np.full((B * H, N), -np.inf, dtype=Q.dtype)
    scale = Q.dtype.type(1 / np.sqrt(D))
    for g in range(B * H):
        for i in range(0, N, tile_size):
            q = q3[g, i : i + tile_size] * scale
            m = np.full((len(q), 1), -np.inf, dtype=Q.dtype)
            l = np.zeros((len(q), 1), dtype=Q.dtype)
            acc = np.zeros((len(q), D), dtype=Q.dtype)
            for j in range(0, i + len(q) if causal else N, tile_size):
                s = q @ k3[g, j : j + tile_size].T
                if causal and j + s.shape[1] > i:
                    s[np.arange(j, j + s.shape[1])[None] > np.arange(i, i + len(q))[:, None]] = -np.inf
                m_new = np.maximum(m, s.max(1, keepdims=True))
                base = np.where(np.isneginf(m_new), 0, m_new).astype(Q.dtype)
                a, p = np.exp(m - base), np.exp(s - base)
                l = l * a + p.sum(1, keepdims=True)
                acc = acc * a + p @ v3[g, j : j + tile_size]
                m = m_new
            ok = l[:, 0] > 0
            o3[g, i : i + tile_size][ok] = acc[ok] / l[ok]
            lse[g, i : i + tile_size][ok] = (m[ok] + np.log(l[ok]))[:, 0]
    O = o3.reshape(B, H, N, D)
    return O, {"O": O, "L": lse.reshape(B, H, N), "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size=64, causal=True):
    Q = cache["Q"]
    B, H, N, D = Q.shape
    flat = lambda a: np.ascontiguousarray(a).reshape(B * H, N, D)
    q3, k3, v3, o3 = (flat(cache[n]) for n in "QKVO")
    do3 = dO.ravel(order="K").reshape(B * H, N, D)  # the kernel walks the buffer as it lies
    lse = cache["L"].reshape(B * H, N, 1)
    scale = Q.dtype.type(1 / np.sqrt(D))
    dq, dk, dv = np.zeros_like(q3), np.zeros_like(k3), np.zeros_like(v3)
    delta = (do3 * o3).sum(-1, keepdims=True)
    for g in range(B * H):
        for j in range(0, N, tile_size):
            k, v = k3[g, j : j + tile_size], v3[g, j : j + tile_size]
            for i in range(j // tile_size * tile_size if causal else 0, N, tile_size):
                rows = slice(i, i + tile_size)
                s = q3[g, rows] @ k.T * scale
                L = lse[g, rows]
                p = np.exp(np.where(np.isneginf(L), -np.inf, s - np.where(np.isneginf(L), 0, L)))
                if causal:
                    p[np.arange(j, j + len(k))[None] > np.arange(i, i + len(p))[:, None]] = 0
                do = do3[g, rows]
                dv[g, j : j + tile_size] += p.T @ do
                ds = p * (do @ v.T - delta[g, rows]) * scale
                dq[g, rows] += ds @ k
                dk[g, j : j + tile_size] += ds.T @ q3[g, rows]
    return tuple(a.reshape(B, H, N, D) for a in (dq, dk, dv))
