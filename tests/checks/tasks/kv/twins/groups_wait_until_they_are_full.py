# style: tokens wait until a whole group of them is past those that stay in full precision
# only: quantized, capacity
import numpy as np


class QuantizedCache:
    """Keys in codes per channel, values per token; what came last waits in float32."""

    def __init__(self, batch, heads, head_dim, block=8):
        self.block, self.done, self.new = block, [], np.zeros((2, batch, heads, 0, head_dim), np.float32)

    def append(self, k, v):
        self.new = np.concatenate([self.new, np.stack([k, v]).astype(np.float32)], axis=3)
        while self.new.shape[3] > 2 * self.block - 1:
            count = self.block
            old, self.new = self.new[:, :, :, :count], self.new[:, :, :, count:].copy()
            self.done.append((*self.coded(old[0], 2), *self.coded(old[1], 3)))

    @staticmethod
    def coded(x, axis):
        low, high = x.min(axis, keepdims=True), x.max(axis, keepdims=True)
        step = np.where(high > low, (high - low) / 255, 1).astype(np.float32)
        return np.rint((x - low) / step).astype(np.uint8), step, low

    def read(self):
        k = [codes * step + low for codes, step, low, *_values in self.done]
        v = [codes * step + low for *_keys, codes, step, low in self.done]
        return np.concatenate([*k, self.new[0]], 2), np.concatenate([*v, self.new[1]], 2)
