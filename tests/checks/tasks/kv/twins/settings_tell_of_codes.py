# style: a cache made from settings in which the bits of a code can be told; floats where they are not
# only: quantized, incremental_equals_full
# passes: quantized
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class CacheConfig:
    """Sizes of a cache; ``bits`` is 8 where codes are kept."""

    batch_size: int
    num_heads: int
    head_dim: int
    max_seq_len: int
    bits: int | None = None


class BatchCache:
    """Keys and values of a batch, (B, H, S, D)."""

    def __init__(self, config: CacheConfig):
        self.config, self.length = config, 0
        rows = (2, config.batch_size, config.num_heads, config.max_seq_len)
        if config.bits not in (None, 8):
            raise ValueError("codes have eight bits")
        self.kept = np.zeros((*rows, config.head_dim), np.int8 if config.bits else np.float32)
        self.steps = np.zeros(rows, np.float32) if config.bits else None

    def append(self, k, v):
        """Take (B, H, T, D) keys and values behind those that are here."""
        end = self.length + k.shape[2]
        if end > self.config.max_seq_len:
            raise OverflowError(f"{end} tokens, where {self.config.max_seq_len} fit")
        for side, x in enumerate((k, v)):
            if self.steps is None:
                self.kept[side, :, :, self.length : end] = x
                continue
            step = np.abs(x).max(axis=-1) / 127
            self.steps[side, :, :, self.length : end] = step
            codes = np.rint(x / np.where(step > 0, step, 1)[..., None])
            self.kept[side, :, :, self.length : end] = codes
        self.length = end

    def get(self):
        kept = self.kept[:, :, :, : self.length]
        if self.steps is None:
            return kept[0], kept[1]
        back = kept * self.steps[:, :, :, : self.length, None]
        return back[0], back[1]


def attend(q, cache):
    """The newest tokens' queries, (B, H, T, D), over all that is in the cache."""
    k, v = cache.get()
    scores = q @ k.swapaxes(2, 3) / np.float32(np.sqrt(q.shape[-1]))
    seen = np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool)
    p = np.exp(np.where(seen, scores, -np.inf) - scores.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True)) @ v
