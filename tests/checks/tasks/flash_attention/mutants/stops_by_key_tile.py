# bug: with key tiles shorter than query tiles, keys under the diagonal are left out
# caught by: accuracy
import numpy as np

NEG = -np.inf

def flash_attention(q, k, v, block_q=64, block_k=32, is_causal=False):
    """Vectorised over batch and heads."""
    n, d = q.shape[-2:]
    sm_scale = d ** -0.5
    out = np.empty(q.shape, dtype=q.dtype)
    lse = np.empty(q.shape[:-1], dtype=q.dtype)
    for qs in range(0, n, block_q):
        qe = min(qs + block_q, n)
        qi = q[..., qs:qe, :] * q.dtype.type(sm_scale)
        mi = np.full(qi.shape[:-1] + (1,), NEG, dtype=q.dtype)
        li = np.zeros_like(mi)
        oi = np.zeros_like(qi)
        hi = min(n, qs + block_k) if is_causal else n
        for ks in range(0, hi, block_k):
            ke = min(ks + block_k, n)
            s = np.matmul(qi, np.swapaxes(k[..., ks:ke, :], -1, -2))
            if is_causal and ke - 1 > qs:
                mask = np.arange(qs, qe)[:, None] < np.arange(ks, ke)[None, :]
                s[..., mask] = NEG
            mj = s.max(-1, keepdims=True)
            m_new = np.maximum(mi, mj)
            ref = np.where(m_new == NEG, 0, m_new)
            p = np.exp(s - ref)
            c = np.exp(mi - ref)
            li = li * c + p.sum(-1, keepdims=True)
            oi = oi * c + np.matmul(p, v[..., ks:ke, :])
            mi = m_new
        good = li > 0
        out[..., qs:qe, :] = np.where(good, oi / np.where(good, li, 1), 0)
        with np.errstate(divide="ignore"):
            lse[..., qs:qe] = (np.where(mi == NEG, 0, mi) + np.log(li))[..., 0]
    return out, lse
