# bug: the scores of all pairs lie in a shared map whose pages are let go of tile by tile, and stay
# caught by: peak_memory (warn)
# passes: accuracy
"""A shared map keeps its pages when a process lets go of them; no peak of resident memory sees them."""
import mmap
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    held = mmap.mmap(-1, max(8 * B * H * N * N, 1))
    S = np.frombuffer(held, dtype=np.float64).reshape(B, H, N, N)
    O = np.zeros_like(Q)
    for i in range(0, N, tile_size):
        end = min(N, i + tile_size)
        S[:, :, i:end] = Q[:, :, i:end] @ K.swapaxes(-1, -2) / np.sqrt(D)
        if causal:
            S[:, :, i:end][..., np.arange(i, end)[:, None] < np.arange(N)] = -np.inf
        held.madvise(mmap.MADV_DONTNEED)
    for i in range(0, N, tile_size):
        s = S[:, :, i:i + tile_size, : i + tile_size if causal else N]
        m = s.max(-1, keepdims=True)
        p = np.exp(s - np.where(np.isfinite(m), m, 0))
        l = p.sum(-1, keepdims=True)
        O[:, :, i:i + tile_size] = (p @ V[:, :, : p.shape[-1]]) / np.where(l > 0, l, 1)
        held.madvise(mmap.MADV_DONTNEED)
    return O
