# style: as a kernel library has it: forward gives (out, softmax_lse), backward takes everything by itself
# slow: peak_memory
import numpy as np


def _tile(q, k, scale, i0, j0, is_causal):
    s = scale * q.dot(k.T)
    if is_causal:
        i = i0 + np.arange(q.shape[0])[:, None]
        j = j0 + np.arange(k.shape[0])[None, :]
        s[j > i] = -np.inf
    return s


def flash_fwd(q, k, v, block_size=64, is_causal=False):
    b, h, n, d = q.shape
    scale = d ** -0.5
    out = np.zeros_like(q)
    lse = np.zeros((b, h, n), dtype=q.dtype)
    for x in range(b * h):
        bi, hi = divmod(x, h)
        for i0 in range(0, n, block_size):
            qi = q[bi, hi, i0:i0 + block_size]
            m = np.full((len(qi), 1), -np.inf, dtype=q.dtype)
            l = np.zeros((len(qi), 1), dtype=q.dtype)
            o = np.zeros_like(qi)
            for j0 in range(0, n if not is_causal else min(n, i0 + block_size), block_size):
                s = _tile(qi, k[bi, hi, j0:j0 + block_size], scale, i0, j0, is_causal)
                m2 = np.maximum(m, s.max(1, keepdims=True))
                ref = np.where(np.isfinite(m2), m2, 0)
                p, c = np.exp(s - ref), np.exp(m - ref)
                l = c * l + p.sum(1, keepdims=True)
                o = c * o + p.dot(v[bi, hi, j0:j0 + block_size])
                m = m2
            div = np.where(l > 0, l, 1)
            out[bi, hi, i0:i0 + block_size] = o / div
            lse[bi, hi, i0:i0 + block_size] = np.where(l > 0, m + np.log(div), -np.inf)[:, 0]
    return out, lse


def flash_bwd(q, k, v, o, do, lse, block_size=64, is_causal=False):
    b, h, n, d = q.shape
    scale = d ** -0.5
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    delta = (o * do).sum(-1, keepdims=True)
    lse = np.where(np.isfinite(lse), lse, np.finfo(q.dtype).max / 4)
    for bi in range(b):
        for hi in range(h):
            # dK and dV of one key tile first, then dQ of one query tile, each in a walk of its own.
            for j0 in range(0, n, block_size):
                kj, vj = k[bi, hi, j0:j0 + block_size], v[bi, hi, j0:j0 + block_size]
                start = (j0 // block_size) * block_size if is_causal else 0
                for i0 in range(start, n, block_size):
                    rows = slice(i0, i0 + block_size)
                    p = np.exp(_tile(q[bi, hi, rows], kj, scale, i0, j0, is_causal) - lse[bi, hi, rows, None])
                    dv[bi, hi, j0:j0 + block_size] += p.T.dot(do[bi, hi, rows])
                    ds = p * (do[bi, hi, rows].dot(vj.T) - delta[bi, hi, rows])
                    dk[bi, hi, j0:j0 + block_size] += scale * ds.T.dot(q[bi, hi, rows])
            for i0 in range(0, n, block_size):
                rows = slice(i0, i0 + block_size)
                for j0 in range(0, min(n, i0 + block_size) if is_causal else n, block_size):
                    cols = slice(j0, j0 + block_size)
                    s = _tile(q[bi, hi, rows], k[bi, hi, cols], scale, i0, j0, is_causal)
                    p = np.exp(s - lse[bi, hi, rows, None])
                    ds = p * (do[bi, hi, rows].dot(v[bi, hi, cols].T) - delta[bi, hi, rows])
                    dq[bi, hi, rows] += scale * ds.dot(k[bi, hi, cols])
    return dq, dk, dv
