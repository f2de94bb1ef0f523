# Sequences come and go by number; keys and values are handed out and a plain attention does the rest.
# skips: isolation (nothing past a length)
import numpy as np


class SequenceCache:
    def __init__(self):
        self._seqs = {}

    def append(self, seq_id, k, v):
        """k, v: (heads, tokens, width)"""
        if seq_id in self._seqs:
            pk, pv = self._seqs[seq_id]
            k, v = np.concatenate((pk, k), 1), np.concatenate((pv, v), 1)
        self._seqs[seq_id] = (k, v)

    def get(self, seq_id):
        return self._seqs[seq_id]


def scaled_dot_product_attention(Q, K, V, causal=False):
    S = Q @ np.moveaxis(K, -1, -2) * Q.shape[-1] ** -0.5
    if causal:
        S = S + np.triu(np.full(S.shape[-2:], -np.inf), 1)
    P = np.exp(S - np.max(S, -1, keepdims=True))
    return P / np.sum(P, -1, keepdims=True) @ V
