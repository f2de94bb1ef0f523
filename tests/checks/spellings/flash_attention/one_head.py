"""One head at a time: Q, K and V are (N, D)."""
import numpy as np


def flash_attention_forward(Q, K, V, block_size=64, causal=True):
    N, d = Q.shape
    scale = 1.0 / np.sqrt(d)
    O = np.zeros((N, d))
    for i in range(0, N, block_size):
        Qi = Q[i : i + block_size]
        rows = np.arange(i, i + len(Qi))[:, None]
        m = np.full((len(Qi), 1), -np.inf)
        l = np.zeros((len(Qi), 1))
        acc = np.zeros((len(Qi), d))
        for j in range(0, N, block_size):
            if causal and j > i + len(Qi) - 1:
                break
            S = scale * Qi @ K[j : j + block_size].T
            if causal:
                S = np.where(np.arange(j, j + S.shape[1])[None, :] <= rows, S, -np.inf)
            m_new = np.maximum(m, S.max(axis=1, keepdims=True))
            safe = np.where(np.isfinite(m_new), m_new, 0.0)
            P = np.exp(S - safe)
            alpha = np.exp(m - safe)
            l = alpha * l + P.sum(axis=1, keepdims=True)
            acc = alpha * acc + P @ V[j : j + block_size]
            m = m_new
        O[i : i + block_size] = acc / np.where(l > 0, l, 1.0)
    return O
