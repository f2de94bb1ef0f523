# bug: the backward keeps its tiles of Q, K, V and dO in float16, and sums in float64
# caught by: gradients, gradient_identities
# passes: accuracy, logsumexp, kv_passes
"""Whole rows at once in the forward; the backward goes over tiles of keys, then of queries."""

import numpy as np


def _scores(q, k, first_row, first_key, causal):
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * q.shape[-1] ** -0.5
    if causal:
        rows = first_row + np.arange(s.shape[-2])
        keys = first_key + np.arange(s.shape[-1])
        s = np.where(keys > rows[:, None], -np.inf, s)
    return s


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    out, lse = np.zeros_like(Q), np.full(Q.shape[:3], -np.inf)
    for i in range(0, Q.shape[2], tile_size):
        rows = slice(i, i + tile_size)
        m = np.full(out[:, :, rows].shape[:3], -np.inf)
        l, acc = np.zeros_like(m), np.zeros(out[:, :, rows].shape)
        for j in range(0, Q.shape[2], tile_size):
            s = _scores(Q[:, :, rows], K[:, :, j : j + tile_size], i, j, causal)
            m_new = np.maximum(m, s.max(axis=-1))
            ref = np.where(np.isneginf(m_new), 0.0, m_new)
            p, alpha = np.exp(s - ref[..., None]), np.exp(m - ref)
            l = alpha * l + p.sum(axis=-1)
            acc = alpha[..., None] * acc + np.matmul(p, V[:, :, j : j + tile_size])
            m = m_new
        seen = np.where(l > 0, l, 1.0)
        out[:, :, rows] = acc / seen[..., None]
        lse[:, :, rows] = np.where(l > 0, m + np.log(seen), -np.inf)
    return out, {"O": out, "L": lse, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V, O, L = (cache[name] for name in "QKVOL")
    scale = Q.shape[-1] ** -0.5
    dQ, dK, dV = (np.zeros(Q.shape) for _ in range(3))
    delta = np.sum(dO * O, axis=-1, keepdims=True)

    def loaded(x, start):
        return x[:, :, start : start + tile_size].astype(np.float16).astype(np.float64)

    for j in range(0, Q.shape[2], tile_size):
        k, v = loaded(K, j), loaded(V, j)
        keys = slice(j, j + tile_size)
        for i in range(0, Q.shape[2], tile_size):
            q, g = loaded(Q, i), loaded(dO, i)
            rows = slice(i, i + tile_size)
            lse = L[:, :, rows, None]
            p = np.exp(_scores(q, k, i, j, causal) - np.where(np.isneginf(lse), 0.0, lse))
            p = np.where(np.isneginf(lse), 0.0, p)
            dV[:, :, keys] += np.matmul(np.swapaxes(p, -1, -2), g)
            ds = p * (np.matmul(g, np.swapaxes(v, -1, -2)) - delta[:, :, rows]) * scale
            dQ[:, :, rows] += np.matmul(ds, k)
            dK[:, :, keys] += np.matmul(np.swapaxes(ds, -1, -2), q)
    return dQ, dK, dV
