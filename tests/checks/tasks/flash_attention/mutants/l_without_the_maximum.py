# bug: the L that comes back beside O is log l, without the row's maximum
# caught by: accuracy
# passes: rescaling_direction, causality
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size=16, causal=True):
    """(B, H, N, D) → O and the log-sum-exp L of every row."""
    N, D = Q.shape[2:]
    O, L = np.zeros_like(Q), np.zeros(Q.shape[:3])
    for i in range(0, N, tile_size):
        rows = np.arange(i, min(i + tile_size, N))
        m = np.full((*Q.shape[:2], rows.size), -np.inf)
        l, acc = np.zeros_like(m), np.zeros((*m.shape, D))
        for j in range(0, rows[-1] + 1 if causal else N, tile_size):
            cols = np.arange(j, min(j + tile_size, N))
            s = np.einsum("bhqd,bhkd->bhqk", Q[:, :, rows], K[:, :, cols]) / np.sqrt(D)
            if causal:
                s = np.where(cols <= rows[:, None], s, -np.inf)
            top = np.maximum(m, s.max(axis=-1))
            safe = np.where(np.isneginf(top), 0.0, top)
            p, factor = np.exp(s - safe[..., None]), np.exp(m - safe)
            l, acc = l * factor + p.sum(axis=-1), acc * factor[..., None] + p @ V[:, :, cols]
            m = top
        some = np.where(l > 0, l, 1.0)
        O[:, :, rows] = acc / some[..., None]
        L[:, :, rows] = np.where(l > 0, np.log(some), -np.inf)
    return O, L
