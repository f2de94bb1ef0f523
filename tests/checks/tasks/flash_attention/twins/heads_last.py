# warns: accuracy (its arrays are (B, N, H, D))
import numpy as np

def flash_attn(q, k, v, tile_size=64, causal=True):
    """q, k, v: (batch, seqlen, nheads, headdim). Returns (batch, seqlen, nheads, headdim)."""
    batch, seqlen, nheads, headdim = q.shape
    out = np.zeros_like(q)
    for b in range(batch):
        for h in range(nheads):
            for i in range(0, seqlen, tile_size):
                qi = q[b, i:i + tile_size, h] / np.sqrt(headdim)
                r = np.arange(i, i + len(qi))
                m = np.full(len(qi), -np.inf); l = np.zeros(len(qi)); a = np.zeros_like(qi)
                for j in range(0, seqlen, tile_size):
                    if causal and j > r[-1]:
                        break
                    kj = k[b, j:j + tile_size, h]; vj = v[b, j:j + tile_size, h]
                    s = qi @ kj.T
                    if causal:
                        s[r[:, None] < np.arange(j, j + len(kj))[None, :]] = -np.inf
                    mn = np.maximum(m, s.max(1)); z = np.where(np.isinf(mn) & (mn < 0), 0, mn)
                    p = np.exp(s - z[:, None]); c = np.exp(m - z)
                    l = l * c + p.sum(1); a = a * c[:, None] + p @ vj; m = mn
                out[b, i:i + tile_size, h] = a / np.where(l > 0, l, 1)[:, None]
    return out
