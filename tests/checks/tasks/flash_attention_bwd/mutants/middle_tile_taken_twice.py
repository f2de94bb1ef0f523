# bug: key tiles are taken from both ends at once, and the middle one of an odd number of tiles twice (causal)
# caught by: gradients, gradient_identities
# passes: accuracy, logsumexp, kv_passes
"""FlashAttention-2 style forward and backward, NumPy.

Heads are folded: every kernel sees (G, N, D) with G = B*H.  The backward is key-stationary: a worker
takes a key/value tile, keeps its dK and dV in registers, streams the query tiles and adds to dQ.

With a causal mask key tile 0 meets all query tiles and the last one only its own.  Workers are
therefore given zigzag pairs (0, n-1), (1, n-2), ..., so that each has the same amount of work.
"""
import numpy as np


def cdiv(a, b):
    return -(-a // b)


def zigzag(n_tiles):
    """Key tiles per worker, balanced for a triangular workload."""
    if n_tiles < 2:
        return [tuple(range(n_tiles))]
    return [(w, n_tiles - 1 - w) for w in range(cdiv(n_tiles, 2))]


def span(t, size, n):
    return slice(t * size, min((t + 1) * size, n))


def diag_mask(rows, cols):
    return np.arange(rows.start, rows.stop)[:, None] >= np.arange(cols.start, cols.stop)[None, :]


def tile_scores(q, k, rows, cols, scale, causal):
    s = np.matmul(q[:, rows], k[:, cols].transpose(0, 2, 1)) * scale
    if causal and cols.stop - 1 > rows.start:
        s = np.where(diag_mask(rows, cols), s, -np.inf).astype(s.dtype, copy=False)
    return s


def fwd_kernel(q, k, v, size, causal):
    G, N, D = q.shape
    scale = q.dtype.type(1 / np.sqrt(D))
    out, lse = np.empty_like(q), np.empty((G, N), q.dtype)
    for i in range(cdiv(N, size)):
        rows = span(i, size, N)
        m = np.full((G, rows.stop - rows.start), -np.inf, q.dtype)
        l, acc = np.zeros_like(m), np.zeros((G, rows.stop - rows.start, D), q.dtype)
        for j in range(i + 1 if causal else cdiv(N, size)):
            cols = span(j, size, N)
            s = tile_scores(q, k, rows, cols, scale, causal)
            m_new = np.maximum(m, s.max(-1))
            m_ok = np.where(m_new > -np.inf, m_new, q.dtype.type(0))
            p = np.exp(s - m_ok[..., None])
            corr = np.exp(m - m_ok)
            l = l * corr + p.sum(-1)
            acc = acc * corr[..., None] + np.matmul(p, v[:, cols])
            m = m_new
        l_ok = np.where(l > 0, l, q.dtype.type(1))
        out[:, rows] = acc / l_ok[..., None]
        lse[:, rows] = np.where(l > 0, m + np.log(l_ok), -np.inf)
    return out, lse


def bwd_kernel(do, q, k, v, out, lse, size, causal):
    G, N, D = q.shape
    scale = q.dtype.type(1 / np.sqrt(D))
    n_tiles = cdiv(N, size)
    delta = (do * out).sum(-1)
    offset = np.where(lse > -np.inf, lse, q.dtype.type(0))
    dq, dk, dv = np.zeros_like(q), np.empty_like(k), np.empty_like(v)
    workers = zigzag(n_tiles) if causal else [(j,) for j in range(n_tiles)]
    for worker in workers:
        for j in worker:
            cols = span(j, size, N)
            dk_acc = np.zeros((G, cols.stop - cols.start, D), q.dtype)
            dv_acc = np.zeros_like(dk_acc)
            for i in range(j if causal else 0, n_tiles):
                rows = span(i, size, N)
                p = np.exp(tile_scores(q, k, rows, cols, scale, causal) - offset[:, rows, None])
                dv_acc += np.matmul(p.transpose(0, 2, 1), do[:, rows])
                dp = np.matmul(do[:, rows], v[:, cols].transpose(0, 2, 1))
                ds = p * (dp - delta[:, rows, None]) * scale
                dk_acc += np.matmul(ds.transpose(0, 2, 1), q[:, rows])
                dq[:, rows] += np.matmul(ds, k[:, cols])
            dk[:, cols], dv[:, cols] = dk_acc, dv_acc
    return dq, dk, dv


def flash_attention_fwd(Q, K, V, tile_size, causal):
    """(B, H, N, D) inputs -> O and the cache (Q, K, V, O, L), L of shape (B, H, N)."""
    B, H, N, D = Q.shape
    out, lse = fwd_kernel(*(x.reshape(B * H, N, D) for x in (Q, K, V)), tile_size, causal)
    O, L = out.reshape(Q.shape), lse.reshape(B, H, N)
    return O, (Q, K, V, O, L)


def flash_attention_bwd(dO, cache, tile_size, causal):
    """Gradients (dQ, dK, dV), each (B, H, N, D)."""
    B, H, N, D = dO.shape
    Q, K, V, O, L = cache
    flat = [x.reshape(B * H, N, D) for x in (dO, Q, K, V, O)]
    grads = bwd_kernel(*flat, L.reshape(B * H, N), tile_size, causal)
    return tuple(g.reshape(B, H, N, D) for g in grads)
