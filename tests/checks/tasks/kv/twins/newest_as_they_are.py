# The newest 64 tokens stay in float32, older ones become codes by channel, 32 tokens at a time.
# only: quantized
import numpy as np


class QuantizedKVCache:
    RESIDUAL, GROUP = 64, 32

    def __init__(self):
        self.old, self.new = [], None

    def append(self, k, v):
        """k, v: (batch, heads, tokens, head_dim)"""
        kv = np.stack([k, v]).astype(np.float32)
        self.new = kv if self.new is None else np.concatenate([self.new, kv], axis=3)
        while self.new.shape[3] >= self.RESIDUAL + self.GROUP:
            block, self.new = self.new[:, :, :, : self.GROUP], self.new[:, :, :, self.GROUP :].copy()
            peak = np.abs(block).max(axis=3, keepdims=True)
            scale = np.where(peak > 0, peak / 127, 1).astype(np.float32)
            self.old.append((np.rint(block / scale).astype(np.int8), scale))

    def get(self):
        parts = [codes * scale for codes, scale in self.old] + [self.new]
        k, v = np.concatenate(parts, axis=3)
        return k, v
