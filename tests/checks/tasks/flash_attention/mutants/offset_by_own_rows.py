# bug: a tile's place is counted in its own number of rows, wrong for a short last one
# caught by: accuracy
# passes: rescaling_direction, nan_masked_tiles
"""Flash attention, forward pass, key-stationary schedule (FlashAttention-1).

The outer loop walks key/value tiles, the inner one query tiles, and the statistics m, l of all rows live in
two (B, H, N) vectors between the visits.  O is kept normalized throughout, as in Algorithm 1 of the paper:

    O_i <- diag(l_new)^-1 (diag(l) e^(m - m_new) O_i + e^(m~ - m_new) P~ V_j)
"""
import math
import numpy as np


def _tiles(n, t):
    count = math.ceil(n / t)
    return [(i, min(t, n - i * t)) for i in range(count)]


def _causal_tile_mask(i, rows, j, cols):
    r = np.arange(rows) + i * rows
    c = np.arange(cols) + j * cols
    return r[:, None] >= c[None, :]


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    scale = 1.0 / math.sqrt(D)
    O = np.zeros_like(Q)
    m = np.full((B, H, N), -np.inf, dtype=Q.dtype)
    l = np.zeros((B, H, N), dtype=Q.dtype)
    for j, cols in _tiles(N, tile_size):
        kj = K[:, :, j * tile_size : j * tile_size + cols]
        vj = V[:, :, j * tile_size : j * tile_size + cols]
        for i, rows in _tiles(N, tile_size):
            if causal and i < j:
                continue
            sl = slice(i * tile_size, i * tile_size + rows)
            s = (Q[:, :, sl] @ kj.transpose(0, 1, 3, 2)) * scale
            if causal and i == j:
                s = np.where(_causal_tile_mask(i, rows, j, cols), s, -np.inf)
            elif causal:
                # off the diagonal everything is visible, but tiles of unequal size are masked for safety
                if rows != cols:
                    s = np.where(_causal_tile_mask(i, rows, j, cols), s, -np.inf)
            mt = s.max(-1)
            mt_safe = np.where(np.isinf(mt), 0.0, mt)
            p = np.exp(s - mt_safe[..., None])
            lt = p.sum(-1)
            m_new = np.maximum(m[:, :, sl], mt)
            safe = np.where(np.isinf(m_new), 0.0, m_new)
            a = np.where(np.isinf(m[:, :, sl]), 0.0, np.exp(m[:, :, sl] - safe))
            b = np.where(np.isinf(mt), 0.0, np.exp(mt_safe - safe))
            l_new = a * l[:, :, sl] + b * lt
            denom = np.where(l_new == 0, 1.0, l_new)
            O[:, :, sl] = ((l[:, :, sl] * a)[..., None] * O[:, :, sl] + b[..., None] * (p @ vj)) / denom[..., None]
            m[:, :, sl] = m_new
            l[:, :, sl] = l_new
    return O


def standard_attention(Q, K, V, causal=True):
    s = Q @ K.transpose(0, 1, 3, 2) / math.sqrt(Q.shape[-1])
    if causal:
        s = np.where(np.tril(np.ones(s.shape[-2:], dtype=bool)), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return p @ V


if __name__ == "__main__":
    np.random.seed(0)
    for n, t in [(64, 16), (128, 32), (128, 128)]:
        q, k, v = (np.random.randn(2, 4, n, 32) for _ in range(3))
        for causal in (True, False):
            e = np.abs(flash_attention_fwd(q, k, v, t, causal) - standard_attention(q, k, v, causal)).max()
            print(f"N={n} tile={t} causal={causal} max error {e:.2e}")
            assert e < 1e-10
