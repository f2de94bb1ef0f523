# bug: the zero point of a range that leaves 0 out does not fit its byte, and is cut off
# caught by: quantized
# only: quantized
import numpy as np


class QuantizedKVCache:
    """Eight bits per number; every token of a head has a step and a zero point."""

    def __init__(self, num_heads, head_dim):
        self.expected = num_heads, head_dim
        self.tokens = []

    def _pack(self, x):
        assert (x.shape[1], x.shape[3]) == self.expected
        bottom = x.min(axis=3, keepdims=True)
        step = (x.max(axis=3, keepdims=True) - bottom).astype(np.float32) / 255
        step[step == 0] = 1 / 127
        zero = np.clip(-128 - np.rint(bottom / step), -128, 127).astype(np.int8)
        codes = np.clip(np.rint(x / step) + zero, -128, 127).astype(np.int8)
        return codes, step, zero

    def append(self, k, v):
        """k, v: (batch, num_heads, new, head_dim)"""
        self.tokens.append((self._pack(k), self._pack(v)))

    def get(self):
        parts = [[(codes - zero.astype(np.float32)) * step for codes, step, zero in token] for token in self.tokens]
        keys, values = (np.concatenate(side, axis=2) for side in zip(*parts))
        return keys, values
