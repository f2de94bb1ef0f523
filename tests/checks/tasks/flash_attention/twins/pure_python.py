# skips: causal_skip (nothing counted)
# slow: peak_memory, rescaling_direction, nan_masked_tiles
"""Lists and floats only; nested lists come back."""
import math


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    Q, K, V = (x.tolist() if hasattr(x, "tolist") else x for x in (Q, K, V))
    return [[_head(q, k, v, tile_size, causal) for q, k, v in zip(qs, ks, vs)] for qs, ks, vs in zip(Q, K, V)]


def _head(q, k, v, tile, causal):
    n, d = len(q), len(q[0])
    scale = 1.0 / math.sqrt(d)
    rows = []
    for i, qi in enumerate(q):
        m, l, acc = -math.inf, 0.0, [0.0] * d
        end = i + 1 if causal else n
        for start in range(0, end, tile):
            keys = range(start, min(start + tile, end))
            s = [scale * sum(map(float.__mul__, qi, k[j])) for j in keys]
            new = max(m, max(s))
            if new == -math.inf:
                continue
            shrink = math.exp(m - new) if m > -math.inf else 0.0
            l *= shrink
            acc = [a * shrink for a in acc]
            for j, sj in zip(keys, s):
                p = math.exp(sj - new)
                l += p
                acc = [a + p * x for a, x in zip(acc, v[j])]
            m = new
        rows.append([a / l for a in acc] if l > 0 else acc)
    return rows
