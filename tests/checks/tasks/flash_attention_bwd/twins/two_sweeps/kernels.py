# style: kernels of one head in a file of their own, which write into slices; dQ in one sweep, dK and dV in another
"""Tile kernels shared by the forward and the backward pass (natural layout: one (N, D) head at a time)."""
import numpy as np

NEG = float("-inf")


def visible(q0, q1, k0, k1):
    """Boolean tile of the causal mask."""
    return np.greater_equal.outer(np.arange(q0, q1), np.arange(k0, k1))


def score_tile(q, k, scale, causal, q0, k0):
    s = q.dot(k.T)
    s *= scale
    if causal and k0 + len(k) > q0 + 1:
        np.copyto(s, NEG, where=~visible(q0, q0 + len(q), k0, k0 + len(k)))
    return s


def forward_head(q, k, v, tile, causal, o, lse):
    n, d = q.shape
    scale = d ** -0.5
    for q0 in range(0, n, tile):
        qt = q[q0:q0 + tile]
        m = np.full(len(qt), NEG, q.dtype)
        l = np.zeros(len(qt), q.dtype)
        a = np.zeros((len(qt), d), q.dtype)
        limit = min(q0 + tile, n) if causal else n
        for k0 in range(0, limit, tile):
            s = score_tile(qt, k[k0:k0 + tile], scale, causal, q0, k0)
            mn = np.maximum(m, s.max(1))
            ref = np.where(mn == NEG, 0, mn)
            p = np.exp(s - ref[:, None])
            w = np.exp(m - ref)
            l = l * w + p.sum(1)
            a = a * w[:, None] + p.dot(v[k0:k0 + tile])
            m = mn
        ok = l > 0
        o[q0:q0 + tile][ok] = a[ok] / l[ok, None]
        lse[q0:q0 + tile][ok] = m[ok] + np.log(l[ok])


def dq_head(q, k, v, do, lse, delta, tile, causal, dq):
    """Query-stationary sweep: dQ only."""
    n, d = q.shape
    scale = d ** -0.5
    for q0 in range(0, n, tile):
        sl = slice(q0, min(q0 + tile, n))
        acc = np.zeros((sl.stop - q0, d), q.dtype)
        for k0 in range(0, sl.stop if causal else n, tile):
            kt, vt = k[k0:k0 + tile], v[k0:k0 + tile]
            p = np.exp(score_tile(q[sl], kt, scale, causal, q0, k0) - lse[sl, None])
            acc += (p * (do[sl].dot(vt.T) - delta[sl, None])).dot(kt)
        dq[sl] = acc * scale


def dkv_head(q, k, v, do, lse, delta, tile, causal, dk, dv):
    """Key-stationary sweep: dK and dV."""
    n, d = q.shape
    scale = d ** -0.5
    for k0 in range(0, n, tile):
        kt, vt = k[k0:k0 + tile], v[k0:k0 + tile]
        first = (k0 // tile) * tile if causal else 0
        for q0 in range(first, n, tile):
            sl = slice(q0, min(q0 + tile, n))
            p = np.exp(score_tile(q[sl], kt, scale, causal, q0, k0) - lse[sl, None])
            dv[k0:k0 + tile] += p.T.dot(do[sl])
            ds = p * (do[sl].dot(vt.T) - delta[sl, None])
            dk[k0:k0 + tile] += ds.T.dot(q[sl]) * scale
