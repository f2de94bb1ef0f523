# style: splits of a text are attended by themselves and merged by their log-sum-exp, in float32
# only: incremental_equals_full, capacity
import numpy as np

SPLITS, PAGE = 3, 4


class Cache:
    """Keys and values of a batch, (B, H, room, D)."""

    def __init__(self, batch, heads, head_dim, max_len, dtype=np.float32):
        self.k = np.zeros((batch, heads, max_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.length = 0

    def append(self, k, v):
        """One token of each sequence: (B, H, D)."""
        if self.length == self.k.shape[2]:
            raise ValueError(f"{self.length} tokens are all that fit")
        self.k[:, :, self.length], self.v[:, :, self.length] = k, v
        self.length += 1


def parts(length):
    """Where the splits begin and end; of a short text some are empty."""
    size = -(-length // (SPLITS * PAGE)) * PAGE
    return [(min(at * size, length), min((at + 1) * size, length)) for at in range(SPLITS)]


def attend_part(q, k, v):
    """Attention over a part, (B, H, D), and the log-sum-exp of its scores, (B, H, 1)."""
    if k.shape[2] == 0:
        return np.zeros_like(q), np.full((*q.shape[:2], 1), -np.inf, q.dtype)
    scores = np.einsum("bhd,bhsd->bhs", q, k) / q.shape[-1] ** 0.5
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=-1, keepdims=True)
    return np.einsum("bhs,bhsd->bhd", weights / total, v), top + np.log(total)


def decode(q, cache):
    """Attention of the newest token's queries, (B, H, D): splits, merged by their log-sum-exp."""
    found = [attend_part(q, cache.k[:, :, a:b], cache.v[:, :, a:b]) for a, b in parts(cache.length)]
    top = np.max([lse for _out, lse in found], axis=0)
    shares = [np.exp(lse - top) for _out, lse in found]
    return sum(share * one for share, (one, _lse) in zip(shares, found, strict=True)) / sum(shares)
