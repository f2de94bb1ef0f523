# style: arrays are (B, N, H, D), the cache is a tuple, everything in the dtype that comes in
# warns: accuracy (its axes are B N H D)
import numpy as np


def flash_attention_forward(query, key, value, *, tile=32, causal=True):
    B, N, H, D = query.shape
    one = query.dtype.type
    out = np.zeros_like(query)
    lse = np.zeros((B, N, H), query.dtype)
    for b in range(B):
        for h in range(H):
            for i in range(0, N, tile):
                q = query[b, i:i + tile, h] * one(D ** -0.5)
                m = np.full(len(q), -np.inf, query.dtype)
                s = np.zeros(len(q), query.dtype)
                acc = np.zeros_like(q)
                for j in range(0, N, tile):
                    if causal and j > i + len(q) - 1:
                        break
                    x = q @ key[b, j:j + tile, h].T
                    if causal:
                        x[np.arange(i, i + len(q))[:, None] < np.arange(j, j + x.shape[1])] = -np.inf
                    top = np.maximum(m, x.max(1))
                    base = np.where(np.isinf(top), one(0), top)
                    e = np.exp(x - base[:, None])
                    f = np.exp(m - base)
                    s = s * f + e.sum(1)
                    acc = acc * f[:, None] + e @ value[b, j:j + tile, h]
                    m = top
                ok = s > 0
                out[b, i:i + tile, h] = acc / np.where(ok, s, one(1))[:, None]
                lse[b, i:i + tile, h] = np.where(ok, m + np.log(np.where(ok, s, one(1))), -np.inf)
    return out, (query, key, value, out, lse)


def flash_attention_backward(saved, dout, *, tile=32, causal=True):
    query, key, value, out, lse = saved
    B, N, H, D = query.shape
    scale = query.dtype.type(D ** -0.5)
    dquery, dkey, dvalue = (np.zeros_like(a) for a in (query, key, value))
    for b in range(B):
        for h in range(H):
            delta = (dout[b, :, h] * out[b, :, h]).sum(-1)
            for j in range(0, N, tile):
                kj, vj = key[b, j:j + tile, h], value[b, j:j + tile, h]
                for i in range(0, N, tile):
                    rows = np.arange(i, min(i + tile, N))
                    if causal and j > rows[-1]:
                        continue
                    x = query[b, rows, h] @ kj.T * scale
                    hidden = np.zeros(x.shape, bool)
                    if causal:
                        hidden = rows[:, None] < np.arange(j, j + x.shape[1])
                    seen = np.isfinite(lse[b, rows, h])[:, None] & ~hidden
                    p = np.zeros_like(x)
                    np.exp(x - np.where(np.isfinite(lse[b, rows, h]), lse[b, rows, h], 0)[:, None], out=p, where=seen)
                    g = dout[b, rows, h]
                    dvalue[b, j:j + tile, h] += p.T @ g
                    ds = p * (g @ vj.T - delta[rows][:, None])
                    dquery[b, rows, h] += ds @ kj * scale
                    dkey[b, j:j + tile, h] += ds.T @ query[b, rows, h] * scale
    return dquery, dkey, dvalue
