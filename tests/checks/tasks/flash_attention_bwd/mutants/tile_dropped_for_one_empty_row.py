# bug: backward skips a tile of queries if any of its rows sees no key
# caught by: masked_rows
# passes: gradients
"""FlashAttention-2 style forward and backward passes (NumPy, float64).

    flash_attention_fwd(Q, K, V, tile_size, causal) -> (O, cache)
    flash_attention_bwd(dO, cache, tile_size, causal) -> (dQ, dK, dV)

Inputs are (N, D) or (B, H, N, D).  Heads are walked one after the other, with
one set of accumulators per head; the only quadratic object is a single
(tile, tile) block.
"""

import numpy as np

NEG_INF = -np.inf


def _heads(x):
    """View as (heads, N, D)."""
    return x.reshape((-1,) + x.shape[-2:])


def _block(q, k, scale, r0, c0, causal):
    with np.errstate(over="ignore"):
        s = (q @ k.T) * scale
    if causal and c0 + k.shape[0] - 1 > r0:
        rows = r0 + np.arange(q.shape[0])
        cols = c0 + np.arange(k.shape[0])
        s = np.where(cols[None, :] <= rows[:, None], s, NEG_INF)
    return s


def _fwd_head(Q, K, V, T, causal, O, L):
    n, d = Q.shape
    scale = d ** -0.5
    for r0 in range(0, n, T):
        q = Q[r0:r0 + T]
        m = np.full((q.shape[0], 1), NEG_INF)
        l = np.zeros_like(m)
        o = np.zeros((q.shape[0], V.shape[1]))
        last = min(r0 + T, n) if causal else K.shape[0]
        for c0 in range(0, last, T):
            s = _block(q, K[c0:c0 + T], scale, r0, c0, causal)
            m_new = np.maximum(m, s.max(axis=1, keepdims=True))
            ref = np.where(m_new == NEG_INF, 0.0, m_new)
            p = np.exp(s - ref)
            a = np.exp(m - ref)
            l = a * l + p.sum(axis=1, keepdims=True)
            o = a * o + p @ V[c0:c0 + T]
            m = m_new
        seen = l > 0
        l_safe = np.where(seen, l, 1.0)
        O[r0:r0 + T] = o / l_safe
        L[r0:r0 + T] = np.where(seen, m + np.log(l_safe), NEG_INF)[:, 0]


def flash_attention_fwd(Q, K, V, tile_size=64, causal=False):
    """Tiled attention.

    Returns:
        O: attention output, shaped as V.
        cache: dict with O, Q, K, V and the row log-sum-exp L (-inf: empty row).
    """
    Q, K, V = (np.asarray(x, dtype=np.float64) for x in (Q, K, V))
    O = np.zeros(Q.shape[:-1] + V.shape[-1:])
    L = np.zeros(Q.shape[:-1])
    L_heads = L.reshape(-1, L.shape[-1])
    for h, (q, k, v) in enumerate(zip(_heads(Q), _heads(K), _heads(V))):
        _fwd_head(q, k, v, tile_size, causal, _heads(O)[h], L_heads[h])
    return O, dict(Q=Q, K=K, V=V, O=O, L=L)


def _bwd_head(Q, K, V, O, L, dO, T, causal, dQ, dK, dV):
    n, d = Q.shape
    scale = d ** -0.5
    delta = np.sum(dO * O, axis=1, keepdims=True)     # rowsum(P * dP) = rowsum(dO * O)
    # Query tiles without a visible key have P = 0 and contribute nothing; taking
    # them out here keeps exp(-inf - (-inf)) away from the inner loop.
    starts = [r0 for r0 in range(0, n, T) if np.isfinite(L[r0:r0 + T]).all()]
    for c0 in range(0, K.shape[0], T):
        k, v = K[c0:c0 + T], V[c0:c0 + T]
        dk, dv = np.zeros_like(k), np.zeros_like(v)
        for r0 in starts:
            if causal and r0 + T <= c0:
                continue
            q, do = Q[r0:r0 + T], dO[r0:r0 + T]
            p = np.exp(_block(q, k, scale, r0, c0, causal) - L[r0:r0 + T, None])
            ds = p * (do @ v.T - delta[r0:r0 + T]) * scale
            dv += p.T @ do
            dk += ds.T @ q
            dQ[r0:r0 + T] += ds @ k
        dK[c0:c0 + T] = dk
        dV[c0:c0 + T] = dv


def flash_attention_bwd(dO, cache, tile_size=64, causal=False):
    """Backward of :func:`flash_attention_fwd`; P is rebuilt tile by tile from L."""
    Q, K, V, O, L = (cache[name] for name in "QKVOL")
    dO = np.asarray(dO, dtype=np.float64)
    dQ, dK, dV = np.zeros(Q.shape, Q.dtype), np.zeros(K.shape, K.dtype), np.zeros(V.shape, V.dtype)
    L_heads = L.reshape(-1, L.shape[-1])
    groups = [_heads(x) for x in (Q, K, V, O, dO, dQ, dK, dV)]
    for h in range(L_heads.shape[0]):
        q, k, v, o, do, dq, dk, dv = (g[h] for g in groups)
        _bwd_head(q, k, v, o, L_heads[h], do, tile_size, causal, dq, dk, dv)
    return dQ, dK, dV


# --------------------------------------------------------------------------- tests


def _reference(Q, K, V, dO, causal):
    scale = Q.shape[-1] ** -0.5
    S = Q @ K.swapaxes(-1, -2) * scale
    if causal:
        S = np.where(np.tri(S.shape[-1], dtype=bool), S, NEG_INF)
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    dP = dO @ V.swapaxes(-1, -2)
    dS = P * (dP - (P * dP).sum(-1, keepdims=True)) * scale
    return P @ V, dS @ K, dS.swapaxes(-1, -2) @ Q, P.swapaxes(-1, -2) @ dO
