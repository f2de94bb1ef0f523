"""FlashAttention-2 style forward and backward in NumPy.

Shapes: Q, K, V, O, dO are (B, H, N, D); the log-sum-exp L is (B, H, N).  Heads are merged with
the batch inside, every tile product is one batched matmul.  Work is done in float64; outputs have
the dtype of the inputs.
"""
import numpy as np

from attention_tiles import backward_key_width, future, key_tiles, merge_heads, query_tiles


def _float_of(x):
    return x.dtype if np.issubdtype(x.dtype, np.floating) else np.dtype(float)


def _wide(x):
    return x.astype(np.float64, copy=False)


def _tile_scores(q, k, scale):
    with np.errstate(over="ignore"):
        return (q @ k.transpose(0, 2, 1)) * scale


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    """Returns (O, cache) with cache = dict(O=, L=, Q=, K=, V=)."""
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    q3, k3, v3 = merge_heads(Q), merge_heads(K), merge_heads(V)
    o3 = np.empty((B * H, N, D), _float_of(Q))
    l2 = np.empty((B * H, N))

    for q0, q1 in query_tiles(N, tile_size):
        q = _wide(q3[:, q0:q1])
        m = np.full((B * H, q1 - q0), -np.inf)
        l = np.zeros((B * H, q1 - q0))
        o = np.zeros((B * H, q1 - q0, D))
        for k0, k1 in key_tiles(q1 if causal else N, tile_size):
            s = _tile_scores(q, _wide(k3[:, k0:k1]), scale)
            if causal and k0 >= q0:
                s[:, future(q0, q1, k0, k1)] = -np.inf
            m_new = np.maximum(m, s.max(axis=2))
            m_ref = np.where(np.isfinite(m_new), m_new, 0.0)
            p = np.exp(s - m_ref[:, :, None])
            alpha = np.exp(m - m_ref)
            l = alpha * l + p.sum(axis=2)
            o = alpha[:, :, None] * o + p @ _wide(v3[:, k0:k1])
            m = m_new
        empty = l == 0
        l_safe = np.where(empty, 1.0, l)
        o3[:, q0:q1] = o / l_safe[:, :, None]
        l2[:, q0:q1] = np.where(empty, -np.inf, m + np.log(l_safe))

    O = o3.reshape(B, H, N, D)
    return O, dict(O=O, L=l2.reshape(B, H, N), Q=Q, K=K, V=V)


def flash_attention_bwd(dO, cache, tile_size=64, causal=True):
    """Returns (dQ, dK, dV).  tile_size may differ from the forward's."""
    Q, K, V = cache["Q"], cache["K"], cache["V"]
    B, H, N, D = Q.shape
    scale = 1.0 / np.sqrt(D)
    g3 = merge_heads(np.asarray(dO))
    q3, k3, v3, o3 = (merge_heads(x) for x in (Q, K, V, cache["O"]))
    lse = cache["L"].reshape(B * H, N)
    lse = np.where(np.isneginf(lse), 0.0, lse)              # exp(-inf - 0) = 0 on empty rows
    delta = np.einsum("bnd,bnd->bn", g3, o3, dtype=np.float64)

    dq = np.zeros((B * H, N, D))
    dk = np.zeros((B * H, N, D))
    dv = np.zeros((B * H, N, D))
    for k0, k1 in key_tiles(N, backward_key_width(tile_size)):
        k, v = _wide(k3[:, k0:k1]), _wide(v3[:, k0:k1])
        for q0, q1 in query_tiles(N, tile_size):
            if causal and q1 <= k0:                         # the whole tile lies in the future
                continue
            q, g = _wide(q3[:, q0:q1]), _wide(g3[:, q0:q1])
            s = _tile_scores(q, k, scale)
            if causal and k0 >= q0:                         # tile on the diagonal
                s[:, future(q0, q1, k0, k1)] = -np.inf
            p = np.exp(s - lse[:, q0:q1, None])
            dv[:, k0:k1] += p.transpose(0, 2, 1) @ g
            ds = p * (g @ v.transpose(0, 2, 1) - delta[:, q0:q1, None]) * scale
            dk[:, k0:k1] += ds.transpose(0, 2, 1) @ q
            dq[:, q0:q1] += ds @ k

    return tuple(x.reshape(B, H, N, D).astype(_float_of(like), copy=False)
                 for x, like in ((dq, Q), (dk, K), (dv, V)))
