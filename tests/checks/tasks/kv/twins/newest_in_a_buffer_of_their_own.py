# style: the newest tokens lie in a small buffer of their own, so that few tokens never reach the other
# only: cache_size_minimality, sharing
import numpy as np


class TwoLevelCache:
    """(B, H, N, D): the newest tokens lie in a buffer of their own, and move on when it is full."""

    def __init__(self, batch_size, num_heads, head_dim, newest=6, dtype=np.float32):
        shape = batch_size, num_heads, newest, head_dim
        self.newest, self.count = [np.zeros(shape, dtype), np.zeros(shape, dtype)], 0
        shape = batch_size, num_heads, 24, head_dim
        self.older, self.moved = [np.zeros(shape, dtype), np.zeros(shape, dtype)], 0

    def __len__(self):
        return self.moved + self.count

    def append(self, k, v):
        tokens = k.shape[2]
        if self.count + tokens > self.newest[0].shape[2]:
            self._move([x[:, :, : self.count] for x in self.newest])
            self.count = 0
        if tokens > self.newest[0].shape[2]:
            self._move([k, v])
            return
        for x, new in zip(self.newest, (k, v), strict=True):
            x[:, :, self.count : self.count + tokens] = new
        self.count += tokens

    def _move(self, pair):
        end = self.moved + pair[0].shape[2]
        if end > self.older[0].shape[2]:
            self.older = [np.concatenate([x, np.zeros_like(x)], axis=2) for x in self.older]
            self._move(pair)
            return
        for x, new in zip(self.older, pair, strict=True):
            x[:, :, self.moved : end] = new
        self.moved = end

    def rollback(self, n):
        """The newest n tokens go."""
        if not 0 <= n <= len(self):
            raise ValueError(f"{n} of {len(self)} tokens cannot be taken back")
        if n < self.count:
            self.count -= n
        else:
            self.moved, self.count = len(self) - n, 0

    def read(self):
        return tuple(
            np.concatenate([old[:, :, : self.moved], new[:, :, : self.count]], axis=2)
            for old, new in zip(self.older, self.newest, strict=True)
        )


def cached_attention(q, k, v, cache):
    """q, k, v (B, H, 1, D) of a new token, which sees all before it."""
    cache.append(k, v)
    keys, values = cache.read()
    scores = q @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values
