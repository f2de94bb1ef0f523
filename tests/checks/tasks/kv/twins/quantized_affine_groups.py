# Affine codes of four or eight bits: whole zero points of ranges that hold 0, short last groups, odd head sizes.
# only: quantized
import numpy as np


class QuantizedKVCache:
    def __init__(self, batch, kv_heads, capacity, head_dim, bits=8, group=24):
        self.top, self.bits, self.head_dim = 2**bits - 1, bits, head_dim
        self.starts = np.arange(0, head_dim, group)
        self.sizes = np.diff([*self.starts, head_dim])
        stored = (head_dim + 1) // 2 if bits == 4 else head_dim
        self.codes = np.zeros((2, batch, kv_heads, capacity, stored), np.uint8)
        self.scale = np.zeros((2, batch, kv_heads, capacity, len(self.starts)), np.float16)
        self.zero = np.zeros(self.scale.shape, np.uint8)
        self.filled = 0

    def append(self, keys, values):
        """keys, values: (batch, kv_heads, new, head_dim)"""
        new = np.stack([keys, values]).astype(np.float32)
        end = self.filled + new.shape[3]
        if end > self.codes.shape[3]:
            raise ValueError("the cache is full")
        low = np.minimum(np.minimum.reduceat(new, self.starts, axis=4), 0)
        high = np.maximum(np.maximum.reduceat(new, self.starts, axis=4), 0)
        scale = ((high - low) / self.top).astype(np.float16)
        scale[scale == 0] = 1
        zero = np.clip(np.rint(-low / scale.astype(np.float32)), 0, self.top)
        codes = np.rint(new / self._wide(scale)) + self._wide(zero)
        codes = np.clip(codes, 0, self.top).astype(np.uint8)
        if self.bits == 4:
            if self.head_dim % 2:
                codes = np.pad(codes, [(0, 0)] * 4 + [(0, 1)])
            codes = codes[..., 0::2] << 4 | codes[..., 1::2]
        at = slice(self.filled, end)
        self.codes[:, :, :, at], self.scale[:, :, :, at], self.zero[:, :, :, at] = codes, scale, zero
        self.filled = end

    def get(self):
        codes, scale, zero = (x[:, :, :, : self.filled] for x in (self.codes, self.scale, self.zero))
        if self.bits == 4:
            codes = np.stack([codes >> 4, codes & 15], -1).reshape(*codes.shape[:-1], -1)[..., : self.head_dim]
        keys, values = (codes - self._wide(zero)) * self._wide(scale)
        return keys, values

    def _wide(self, per_group):
        return np.repeat(per_group.astype(np.float32), self.sizes, axis=4)
