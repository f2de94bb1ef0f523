# bug: the causal mask is laid over the last key tile alone, and key tiles are smaller than query tiles unless told
# caught by: accuracy
import numpy as np


def flash_attention_fwd(q, k, v, tile_size, causal=True, key_tile=None):
    """Tiled attention over (B, H, N, D); half a query tile of keys at a time where nothing else is said."""
    n, scale = q.shape[2], q.shape[3] ** -0.5
    key_tile = key_tile or max(1, tile_size // 2)
    out = np.zeros_like(q)
    for start in range(0, n, tile_size):
        end = min(start + tile_size, n)
        last = end if causal else n
        best = np.full((*q.shape[:2], end - start, 1), -np.inf)
        total, mixed = np.zeros_like(best), np.zeros((*best.shape[:3], v.shape[3]))
        for low in range(0, last, key_tile):
            high = min(low + key_tile, last)
            s = scale * q[:, :, start:end] @ k[:, :, low:high].swapaxes(2, 3)
            if causal and high == last:
                s = np.where(np.arange(low, high) <= np.arange(start, end)[:, None], s, -np.inf)
            new = np.maximum(best, s.max(axis=-1, keepdims=True))
            fixed = np.where(np.isneginf(new), 0.0, new)
            p, old = np.exp(s - fixed), np.exp(best - fixed)
            total, mixed = total * old + p.sum(-1, keepdims=True), mixed * old + p @ v[:, :, low:high]
            best = new
        out[:, :, start:end] = mixed / np.where(total > 0, total, 1.0)
    return out
