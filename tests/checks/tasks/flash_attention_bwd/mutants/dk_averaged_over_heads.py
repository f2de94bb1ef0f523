# bug: dK of every head is the mean over all heads
# caught by: gradients
# only: gradients, accuracy
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O, L = np.zeros(Q.shape), np.full((B, H, N), -np.inf)
    for i in range(0, N, tile_size):
        rows = np.arange(i, min(i + tile_size, N))
        m, l = np.full((B, H, len(rows)), -np.inf), np.zeros((B, H, len(rows)))
        out = np.zeros((B, H, len(rows), D))
        for j in range(0, rows[-1] + 1 if causal else N, tile_size):
            cols = np.arange(j, min(j + tile_size, N))
            s = Q[:, :, rows] @ K[:, :, cols].swapaxes(-1, -2) / np.sqrt(D)
            if causal:
                s = np.where(cols > rows[:, None], -np.inf, s)
            top = np.maximum(m, s.max(-1))
            safe = np.where(np.isneginf(top), 0.0, top)
            p, fall = np.exp(s - safe[..., None]), np.exp(m - safe)
            l, out, m = l * fall + p.sum(-1), out * fall[..., None] + p @ V[:, :, cols], top
        some = np.where(l > 0, l, 1.0)
        O[:, :, rows] = out / some[..., None]
        L[:, :, rows] = np.where(l > 0, m + np.log(some), -np.inf)
    return O, (Q, K, V, O, L)


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V, O, L = cache
    B, H, N, D = Q.shape
    dQ, dK, dV = (np.zeros(Q.shape) for _ in range(3))
    delta = (dO * O).sum(-1)
    L = np.where(np.isneginf(L), np.inf, L)
    for i in range(0, N, tile_size):
        rows = np.arange(i, min(i + tile_size, N))
        for j in range(0, rows[-1] + 1 if causal else N, tile_size):
            cols = np.arange(j, min(j + tile_size, N))
            s = Q[:, :, rows] @ K[:, :, cols].swapaxes(-1, -2) / np.sqrt(D)
            if causal:
                s = np.where(cols > rows[:, None], -np.inf, s)
            p = np.exp(s - L[:, :, rows, None])
            ds = p * (dO[:, :, rows] @ V[:, :, cols].swapaxes(-1, -2) - delta[:, :, rows, None]) / np.sqrt(D)
            dV[:, :, cols] += p.swapaxes(-1, -2) @ dO[:, :, rows]
            dK[:, :, cols] += (ds.swapaxes(-1, -2) @ Q[:, :, rows]).mean(1, keepdims=True)
            dQ[:, :, rows] += ds @ K[:, :, cols]
    return dQ, dK, dV
