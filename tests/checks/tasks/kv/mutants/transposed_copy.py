# bug: keys are kept as they come and transposed; both take part in reading
# caught by: cache_size_minimality
import numpy as np


class AttentionCache:
    def __init__(self):
        self.k = self.k_t = self.v = None

    def update(self, k, v):
        old = self.k is not None
        self.k = np.concatenate([self.k, k], 2) if old else k
        self.v = np.concatenate([self.v, v], 2) if old else v
        self.k_t = np.ascontiguousarray(self.k.swapaxes(2, 3))

    def attend(self, q):
        half = q.shape[-1] // 2
        s = q[..., :half] @ self.k_t[:, :, :half] + q[..., half:] @ self.k.swapaxes(2, 3)[:, :, half:]
        S, T = s.shape[-1], s.shape[-2]
        s = s / q.shape[-1] ** 0.5 + np.where(np.arange(S) > np.arange(S - T, S)[:, None], -np.inf, 0)
        p = np.exp(s - s.max(-1, keepdims=True))
        return (p / p.sum(-1, keepdims=True)) @ self.v
