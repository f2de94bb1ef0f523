"""One sequence with its tokens first: (N, H, D)."""
import numpy as np


def flash_attn(q, k, v, chunk_size=32, causal=True):
    tokens, heads, width = q.shape
    out = np.empty(q.shape, dtype=np.float64)
    for a in range(0, tokens, chunk_size):
        qa = q[a : a + chunk_size]
        m = np.full((heads, len(qa)), -np.inf)
        l = np.zeros((heads, len(qa)))
        o = np.zeros((heads, len(qa), width))
        for b in range(0, tokens, chunk_size):
            if causal and b >= a + len(qa):
                break
            kb, vb = k[b : b + chunk_size], v[b : b + chunk_size]
            s = np.einsum("ihd,jhd->hij", qa, kb) / np.sqrt(width)
            if causal:
                ahead = np.arange(b, b + len(kb))[None, :] > np.arange(a, a + len(qa))[:, None]
                s = np.where(ahead[None], -np.inf, s)
            mb = np.maximum(m, s.max(-1))
            base = np.where(mb > -np.inf, mb, 0)
            p = np.exp(s - base[..., None])
            c = np.exp(m - base)
            l = l * c + p.sum(-1)
            o = o * c[..., None] + np.einsum("hij,jhd->hid", p, vb)
            m = mb
        out[a : a + chunk_size] = (o / np.where(l == 0, 1, l)[..., None]).transpose(1, 0, 2)
    return out
