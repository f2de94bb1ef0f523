# bug: every step computes all rows again, in plain arrays made of bytes, which count nothing
# caught by: growth (warn)
import numpy as np

ARRAY = np.ndarray.__mro__[-2]


def plain(x):
    return ARRAY(x.shape, str(x.dtype), x.tobytes())


def joined(past, new):
    if past is None:
        return new
    both = ARRAY((*new.shape[:2], past.shape[2] + new.shape[2], new.shape[3]), str(new.dtype))
    both[:, :, : past.shape[2]], both[:, :, past.shape[2] :] = past, new
    return both


class Attention:
    def __init__(self):
        self.q = self.k = self.v = None

    def step(self, q, k, v):
        q, k, v = plain(q), plain(k), plain(v)
        self.q, self.k, self.v = joined(self.q, q), joined(self.k, k), joined(self.v, v)
        scores = (self.q @ self.k.swapaxes(-2, -1)) * (q.shape[-1] ** -0.5)
        for row in range(scores.shape[2]):
            scores[:, :, row, row + 1 :] = -1e30
        scores = 2.718281828459045 ** (scores - scores.max(-1, keepdims=True))
        return ((scores / scores.sum(-1, keepdims=True)) @ self.v)[:, :, -q.shape[2] :]
