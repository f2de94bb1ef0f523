# right: parts of the keys are merged by 2^L, L in base two, pairwise as in a tree; their number hangs on the length
import math

import numpy as np


def attend(q, k, v, visible):
    s = q @ k.swapaxes(-1, -2)
    s = np.where(visible, s, -np.inf)
    m = s.max(-1)
    m = np.where(np.isneginf(m), 0.0, m)
    p = np.exp2(s - m[..., None])
    l = p.sum(-1)
    return (p @ v) / np.where(l > 0, l, 1.0)[..., None], np.where(
        l > 0, m + np.log2(np.where(l > 0, l, 1.0)), -np.inf
    )


def merge(left, right):
    (o_a, a), (o_b, b) = left, right
    top = np.maximum(a, b)
    top = np.where(np.isneginf(top), 0.0, top)
    w_a, w_b = np.exp2(a - top), np.exp2(b - top)
    total = np.where(w_a + w_b > 0, w_a + w_b, 1.0)
    o = (w_a / total)[..., None] * o_a + (w_b / total)[..., None] * o_b
    return o, np.where(w_a + w_b > 0, top + np.log2(total), -np.inf)


def tree(parts):
    while len(parts) > 1:
        parts = [
            merge(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)
        ]
    return parts[0][0]


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    n, d = Q.shape[2:]
    out = np.empty_like(Q)
    for i in range(0, n, tile_size):
        rows = np.arange(i, min(n, i + tile_size))
        q = Q[:, :, rows] * (math.log2(math.e) / math.sqrt(d))
        end = rows[-1] + 1 if causal else n
        parts = []
        for j in range(0, end, tile_size):
            keys = np.arange(j, min(end, j + tile_size))
            visible = keys[None] <= rows[:, None] if causal else np.ones((len(rows), len(keys)), bool)
            parts.append(attend(q, K[:, :, keys], V[:, :, keys], visible))
        out[:, :, rows] = tree(parts)
    return out
