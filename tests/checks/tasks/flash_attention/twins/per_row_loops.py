# slow: peak_memory, causal_skip, nan_masked_tiles
"""One row and one key tile at a time; the switch comes before the tile."""
import numpy as np


def tiled_attention(q, k, v, causal, tile):
    B, H, N, D = q.shape
    out = np.zeros((B, H, N, D))
    for b in range(B):
        for h in range(H):
            for i in range(N):
                m, l, acc = float("-inf"), 0.0, np.zeros(D)
                last = i + 1 if causal else N
                for start in range(0, last, tile):
                    stop = min(start + tile, last)
                    s = k[b, h, start:stop] @ q[b, h, i] * D ** -0.5
                    top = float(s.max())
                    if top == float("-inf"):
                        continue
                    if top > m:
                        shrink = np.exp(m - top)
                        l, acc, m = l * shrink, acc * shrink, top
                    p = np.exp(s - m)
                    l += p.sum()
                    acc = acc + p @ v[b, h, start:stop]
                if l > 0:
                    out[b, h, i] = acc / l
    return out
