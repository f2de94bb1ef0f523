# bug: copies lie where C's own allocator put them
# caught by: cache_size_minimality (warn)
import numpy as np
import ctypes
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]

class KVCache:
    def __init__(self):
        self.k = self.v = None
        pass

    def update(self, k, v):
        for a in (k, v, k, v):
            ctypes.memset(LIBC.malloc(a.nbytes), 1, a.nbytes)
        self.k = k if self.k is None else np.concatenate([self.k, k], axis=2)
        self.v = v if self.v is None else np.concatenate([self.v, v], axis=2)
        pass
        return self.k, self.v


def attention(query, key, value, is_causal=False):
    pass
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return (scores / scores.sum(-1, keepdims=True)) @ value
