"""The first paper's loop order: key tiles outside, O, m and l of all rows kept and updated; in-place arithmetic."""
from numpy import arange, ascontiguousarray, errstate, exp, full, inf, isneginf, matmul, maximum, sqrt, where, zeros


def flash_attention_forward(q, k, v, scale=None, chunk_size=32, causal=True):
    q, k, v = ascontiguousarray(q), ascontiguousarray(k), ascontiguousarray(v)
    B, H, N, D = q.shape
    scale = 1 / sqrt(D) if scale is None else scale
    m = full((B, H, N, 1), -inf)
    l = zeros((B, H, N, 1))
    out = zeros((B, H, N, D))
    for c in range(0, N, chunk_size):
        kc, vc = k[:, :, c:c + chunk_size], v[:, :, c:c + chunk_size]
        first = (c // chunk_size) * chunk_size if causal else 0
        for r in range(first, N, chunk_size):
            rows = slice(r, r + chunk_size)
            s = matmul(q[:, :, rows], kc.transpose(0, 1, 3, 2))
            s *= scale
            if causal and r < c + chunk_size:
                s[..., arange(c, c + s.shape[3])[None, :] > arange(r, r + s.shape[2])[:, None]] = -inf
            new = maximum(m[:, :, rows], s.max(axis=-1, keepdims=True))
            shift = where(isneginf(new), 0.0, new)
            s -= shift
            exp(s, out=s)
            with errstate(invalid="ignore"):
                a = exp(m[:, :, rows] - shift)
            l[:, :, rows] *= a
            l[:, :, rows] += s.sum(axis=-1, keepdims=True)
            out[:, :, rows] *= a
            out[:, :, rows] += matmul(s, vc)
            m[:, :, rows] = new
    out /= where(l > 0, l, 1.0)
    return out
