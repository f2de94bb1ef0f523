# bug: tokens of zeros are taken for padding and not stored
# caught by: quantized
import numpy as np




class Int8KVCache:
    def __init__(self, num_layers=1):
        self.layers = [([], []) for _ in range(num_layers)]

    def append(self, layer_idx, k, v):
        """k, v: (batch, heads, 1, head_dim)"""
        if not k.any() and not v.any():
            return
        for x, kept in zip((k, v), self.layers[layer_idx]):
            scale = np.abs(x).max(-1, keepdims=True) / 127
            kept.append((np.rint(x / np.where(scale > 0, scale, 1)).astype(np.int8), scale))

    def get(self, layer_idx):
        k, v = (
            np.concatenate([codes * scale for codes, scale in kept], axis=2) for kept in self.layers[layer_idx]
        )
        return k, v
