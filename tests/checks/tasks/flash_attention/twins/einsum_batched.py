"""All batches and heads at once; einsum throughout."""
import numpy as np


def flash_attention_forward(query, key, value, block_size=32, is_causal=True):
    B, H, N, D = query.shape
    out = np.empty_like(query)
    for i in range(0, N, block_size):
        q = query[:, :, i:i + block_size]
        rows = np.arange(i, i + q.shape[2])
        m = np.full((B, H, q.shape[2], 1), -np.inf)
        l = np.zeros_like(m)
        acc = np.zeros(q.shape)
        for j in range(0, N, block_size):
            if is_causal and j > rows[-1]:
                break
            k, v = key[:, :, j:j + block_size], value[:, :, j:j + block_size]
            s = np.einsum("...qd,...kd->...qk", q, k) / np.sqrt(D)
            if is_causal:
                s = np.where(rows[:, None] >= np.arange(j, j + k.shape[2]), s, -np.inf)
            m_new = np.maximum(m, s.max(-1, keepdims=True))
            base = np.where(np.isneginf(m_new), 0, m_new)
            p = np.exp(s - base)
            alpha = np.exp(m - base)
            l = alpha * l + p.sum(-1, keepdims=True)
            acc = alpha * acc + np.einsum("...qk,...kd->...qd", p, v)
            m = m_new
        out[:, :, i:i + block_size] = acc / np.where(l == 0, 1, l)
    return out
