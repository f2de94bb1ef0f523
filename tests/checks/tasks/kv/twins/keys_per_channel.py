# Keys by channel over blocks of eight tokens, values by token; what fills no block yet stays as it is.
# only: quantized
import numpy as np


def encode(x, axis):
    low, high = x.min(axis, keepdims=True), x.max(axis, keepdims=True)
    step = np.where(high > low, (high - low) / 255, 1).astype(np.float16).astype(np.float32)
    return np.clip(np.rint((x - low) / step), 0, 255).astype(np.uint8), step.astype(np.float16), low.astype(np.float32)


def decode(codes, step, low):
    return codes * step.astype(np.float32) + low


class QuantizedKVCache:
    BLOCK = 8

    def __init__(self):
        self.blocks, self.tail = [], None

    def update(self, keys, values):
        """keys, values: (batch, heads, tokens, width)"""
        new = np.stack([keys, values])
        tail = new if self.tail is None else np.concatenate([self.tail, new], axis=3)
        while tail.shape[3] >= self.BLOCK:
            k, v = tail[:, :, :, : self.BLOCK]
            self.blocks.append((encode(k, 2), encode(v, 3)))
            tail = tail[:, :, :, self.BLOCK :]
        self.tail = tail.copy()

    def get(self):
        k = [decode(*k) for k, _ in self.blocks] + [self.tail[0]]
        v = [decode(*v) for _, v in self.blocks] + [self.tail[1]]
        return np.concatenate(k, 2), np.concatenate(v, 2)
