# bug: the 0 that stands for a maximum of -inf in exp is kept as the running maximum
# caught by: nan_masked_tiles
# passes: accuracy, rescaling_direction
# only: nan_masked_tiles, accuracy, rescaling_direction
import numpy as np


def flash_attention(q, k, v, block_size=32, causal=True):
    """q, k, v: (B, H, N, D)."""
    batch, heads, n, d = q.shape
    out = np.zeros_like(q)
    for start in range(0, n, block_size):
        rows = np.arange(start, min(start + block_size, n))
        peak = np.full((batch, heads, len(rows)), -np.inf)
        norm = np.zeros_like(peak)
        mixed = np.zeros((batch, heads, len(rows), d))
        for first in range(0, rows[-1] + 1 if causal else n, block_size):
            cols = np.arange(first, min(first + block_size, n))
            s = np.einsum("bhrd,bhcd->bhrc", q[:, :, rows], k[:, :, cols]) / np.sqrt(d)
            if causal:
                s[:, :, cols > rows[:, None]] = -np.inf
            new = np.maximum(peak, s.max(axis=-1))
            new = np.where(np.isneginf(new), 0.0, new)
            p = np.exp(s - new[..., None])
            fade = np.exp(peak - new)
            norm = fade * norm + p.sum(axis=-1)
            mixed = fade[..., None] * mixed + np.einsum("bhrc,bhcd->bhrd", p, v[:, :, cols])
            peak = new
        out[:, :, rows] = mixed / np.where(norm > 0, norm, 1.0)[..., None]
    return out
