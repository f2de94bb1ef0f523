# bug: as the codes get more room, their scales begin anew, as ones
# caught by: capacity
# passes: quantized
# only: capacity, quantized
import numpy as np


def to_codes(x):
    """int8 codes and one float32 scale per token and head."""
    scale = np.abs(x).max(axis=-1, keepdims=True).astype(np.float32) / 127
    return np.rint(x / np.where(scale == 0, 1, scale)).astype(np.int8), scale


class QuantizedKVCache:
    """Keys and values (B, H, S, D) as int8."""

    def __init__(self, batch_size, num_heads, head_dim, max_len=16):
        self.room, self.length = max_len, 0
        self.codes = np.zeros((2, batch_size, num_heads, max_len, head_dim), np.int8)
        self.scales = np.zeros((2, batch_size, num_heads, max_len, 1), np.float32)

    def _more(self, wanted):
        more = max(wanted, 2 * self.room) - self.room
        width = ((0, 0), (0, 0), (0, 0), (0, more), (0, 0))
        self.codes = np.pad(self.codes, width)
        self.scales = np.ones((*self.codes.shape[:-1], 1), np.float32)
        self.room += more

    def append(self, k, v):
        end = self.length + k.shape[2]
        if end > self.room:
            self._more(end)
        for side, x in enumerate((k, v)):
            self.codes[side, :, :, self.length : end], self.scales[side, :, :, self.length : end] = to_codes(x)
        self.length = end

    def get(self):
        n = self.length
        return tuple(self.codes[:, :, :, :n] * self.scales[:, :, :, :n])
