# bug: keys are centred by a mean that includes later ones, which come in by rounding
# caught by: causality
import numpy as np


def flash_attention(query, key, value, block_size=64, is_causal=True):
    batch, heads, n, d = query.shape
    key = key - key.mean(axis=2, keepdims=True)
    result = np.empty(query.shape, dtype=query.dtype)
    lse = np.empty((batch, heads, n))
    for r in range(0, n, block_size):
        rows = np.arange(r, min(r + block_size, n))
        mx = np.full((batch, heads, rows.size, 1), -np.inf)
        den = np.zeros_like(mx)
        num = np.zeros((batch, heads, rows.size, d))
        for c in range(0, n, block_size):
            if is_causal and c > rows[-1]:
                break
            cols = np.arange(c, min(c + block_size, n))
            s = np.einsum("bhid,bhjd->bhij", query[:, :, rows], key[:, :, cols]) / np.sqrt(d)
            if is_causal:
                s = np.where(cols > rows[:, None], -np.inf, s)
            new = np.maximum(mx, s.max(axis=-1, keepdims=True))
            ref = np.where(new > -np.inf, new, 0.0)
            p = np.exp(s - ref)
            f = np.exp(mx - ref)
            den = den * f + p.sum(axis=-1, keepdims=True)
            num = num * f + np.einsum("bhij,bhjd->bhid", p, value[:, :, cols])
            mx = new
        result[:, :, rows] = num / np.where(den > 0, den, 1.0)
        lse[:, :, rows] = (ref + np.log(np.where(den > 0, den, 1.0)))[..., 0]
    return result, lse
