"""The backward of attention in one piece, to compare with."""

import numpy as np


def reference_attention_backward(Q, K, V, dO, causal=False):
    s = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if causal:
        n, m = s.shape[-2:]
        s = np.where(np.arange(m) > np.arange(n)[:, None], -np.inf, s)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    dp = dO @ np.swapaxes(V, -1, -2)
    ds = p * (dp - (dp * p).sum(axis=-1, keepdims=True)) / np.sqrt(Q.shape[-1])
    return ds @ K, np.swapaxes(ds, -1, -2) @ Q, np.swapaxes(p, -1, -2) @ dO
