# bug: a maximum that rises by 4 or less rescales nothing, but weights are taken from the new one
# caught by: accuracy, rescaling_direction
# only: accuracy, rescaling_direction
import numpy as np

ENOUGH = 4.0


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """Tiled attention that puts off rescaling while a row's maximum hardly rises."""
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    for i in range(0, N, tile_size):
        q = Q[:, :, i : i + tile_size] / np.sqrt(D)
        rows = np.arange(i, i + q.shape[2])
        reference = np.full((B, H, rows.size, 1), -np.inf)
        l, out = np.zeros_like(reference), np.zeros_like(q)
        for j in range(0, rows[-1] + 1 if causal else N, tile_size):
            keys = slice(j, min(j + tile_size, N))
            s = q @ K[:, :, keys].swapaxes(-1, -2)
            if causal:
                s = np.where(rows[:, None] >= np.arange(N)[keys], s, -np.inf)
            top = np.maximum(reference, s.max(axis=-1, keepdims=True))
            frame = np.where(np.isneginf(top), 0.0, top)
            rises = (top > reference + ENOUGH) | np.isneginf(reference)
            factor = np.where(rises, np.exp(reference - frame), 1.0)
            p = np.exp(s - frame)
            l = l * factor + p.sum(axis=-1, keepdims=True)
            out = out * factor + p @ V[:, :, keys]
            reference = np.where(rises, top, reference)
        O[:, :, i : i + tile_size] = out / np.where(l > 0, l, 1.0)
    return O
