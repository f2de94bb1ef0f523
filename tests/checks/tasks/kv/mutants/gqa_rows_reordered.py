# bug: groups are computed rightly and put together in the wrong order
# caught by: gqa
import numpy as np


class LayerCache:
    def __init__(self):
        self.tokens = []

    def step(self, q, k, v):
        """(B, H, D)"""
        self.tokens.append((k, v))
        k, v = (np.stack(x, axis=2) for x in zip(*self.tokens))
        return gqa(q, k, v, q.shape[1] // k.shape[1])


def gqa(q, k, v, n_rep):
    B, H, D = q.shape
    outs = []
    for r in range(n_rep):
        s = np.einsum("bgd,bgnd->bgn", q[:, r::n_rep], k) / np.sqrt(D)
        p = np.exp(s - s.max(-1, keepdims=True))
        outs.append(np.einsum("bgn,bgnd->bgd", p / p.sum(-1, keepdims=True), v))
    return np.concatenate(outs, axis=1)
