# bug: the scores of all pairs lie in an anonymous map, where no trace of allocations sees them
# caught by: peak_memory
# passes: accuracy, causality, nan_masked_tiles, rescaling_direction
"""Scores of all pairs live in anonymous maps, out of tracemalloc's sight."""
import mmap
import numpy as np


def _scratch(shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(mmap.mmap(-1, max(size, 1)), dtype=dtype, count=int(np.prod(shape))).reshape(shape)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    S = _scratch((B, H, N, N), Q.dtype)
    O = np.zeros_like(Q)
    for i in range(0, N, tile_size):
        for j in range(0, N, tile_size):
            if causal and j > i + tile_size - 1:
                S[:, :, i:i + tile_size, j:j + tile_size] = -np.inf
                continue
            np.matmul(Q[:, :, i:i + tile_size], K[:, :, j:j + tile_size].swapaxes(-1, -2) / np.sqrt(D), out=S[:, :, i:i + tile_size, j:j + tile_size])
            if causal:
                S[:, :, i:i + tile_size, j:j + tile_size][..., np.arange(i, min(N, i + tile_size))[:, None] < np.arange(j, min(N, j + tile_size))] = -np.inf
    for i in range(0, N, tile_size):
        s = S[:, :, i:i + tile_size, : i + tile_size if causal else N]
        m = s.max(-1, keepdims=True)
        s = s - np.where(np.isfinite(m), m, 0)
        p = np.exp(s)
        l = p.sum(-1, keepdims=True)
        O[:, :, i:i + tile_size] = (p @ V[:, :, : s.shape[-1]]) / np.where(l > 0, l, 1)
    return O
