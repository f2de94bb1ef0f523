"""A finite sentinel of -1e30 for maxima; masked weights are multiplied away; returns (O, None)."""
import numpy as np

NEG = -1e30


def flash_attention_forward(Q, K, V, tile=128, causal_mask=True):
    B, H, N, D = Q.shape
    out = np.zeros((B, H, N, D), dtype=Q.dtype)
    for b in range(B):
        for h in range(H):
            for i0 in range(0, N, tile):
                i1 = min(i0 + tile, N)
                m = np.full((i1 - i0,), NEG)
                l = np.zeros((i1 - i0,))
                acc = np.zeros((i1 - i0, D))
                for j0 in range(0, N, tile):
                    if causal_mask and j0 > i1 - 1:
                        continue
                    j1 = min(j0 + tile, N)
                    s = Q[b, h, i0:i1] @ K[b, h, j0:j1].T / np.sqrt(D)
                    keep = np.ones_like(s)
                    if causal_mask:
                        keep = (np.arange(i0, i1)[:, None] >= np.arange(j0, j1)[None, :]).astype(s.dtype)
                    s = np.where(keep > 0, s, NEG)
                    m_new = np.maximum(m, s.max(axis=1))
                    p = np.exp(s - m_new[:, None]) * keep
                    corr = np.exp(m - m_new)
                    l = l * corr + p.sum(axis=1)
                    acc = acc * corr[:, None] + p @ V[b, h, j0:j1]
                    m = m_new
                out[b, h, i0:i1] = acc / np.where(l > 0, l, 1)[:, None]
    return out, None
