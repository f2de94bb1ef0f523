# bug: columns of O behind the last multiple of 16 are never worked out where there are more than 16
# caught by: accuracy
# only: accuracy, purity
import numpy as np

LANES = 16


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros((B, H, N, D))
    whole = D if D < LANES else D // LANES * LANES
    for i in range(0, N, tile_size):
        rows = np.arange(i, min(i + tile_size, N))
        m = np.full((B, H, rows.size), -np.inf)
        l, out = np.zeros_like(m), np.zeros((B, H, rows.size, D))
        for j in range(0, rows[-1] + 1 if causal else N, tile_size):
            cols = np.arange(j, min(j + tile_size, N))
            s = Q[:, :, rows] @ K[:, :, cols].swapaxes(-1, -2) / np.sqrt(D)
            if causal:
                s[..., cols > rows[:, None]] = -np.inf
            top = np.maximum(m, s.max(axis=-1))
            base = np.where(np.isneginf(top), 0, top)
            p, fade = np.exp(s - base[..., None]), np.exp(m - base)
            l = l * fade + p.sum(axis=-1)
            out = out * fade[..., None]
            for lane in range(0, whole, LANES):
                part = slice(lane, min(lane + LANES, whole))
                out[..., part] += p @ V[:, :, cols, part]
            m = top
        O[:, :, rows] = out / np.where(l > 0, l, 1)[..., None]
    return O
