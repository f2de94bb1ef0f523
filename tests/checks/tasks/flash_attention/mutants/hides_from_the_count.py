# bug: every tile is computed, and with the mask on arrays that nobody counts
# caught by: causal_skip
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    if causal:
        Q, K, V = (np.frombuffer(a.tobytes()).reshape(a.shape) for a in (Q, K, V))
    scale = 1.0 / np.sqrt(D)
    out = np.zeros((B, H, N, D))
    for i in range(0, N, tile_size):
        q = Q[:, :, i:i + tile_size]
        rows = np.arange(i, i + q.shape[2])
        m = np.full((B, H, q.shape[2], 1), -np.inf)
        l = np.zeros(m.shape)
        acc = np.zeros(q.shape)
        for j in range(0, N, tile_size):
            k, v = K[:, :, j:j + tile_size], V[:, :, j:j + tile_size]
            s = (q @ k.transpose(0, 1, 3, 2)) * scale
            if causal:
                s = np.where(rows[:, None] >= np.arange(j, j + k.shape[2]), s, -np.inf)
            new = np.maximum(m, s.max(-1, keepdims=True))
            base = np.where(np.isneginf(new), 0, new)
            p, c = np.exp(s - base), np.exp(m - base)
            l, acc, m = c * l + p.sum(-1, keepdims=True), c * acc + p @ v, new
        out[:, :, i:i + tile_size] = acc / np.where(l == 0, 1, l)
    return out
