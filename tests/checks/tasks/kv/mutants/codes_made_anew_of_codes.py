# bug: whenever 32 tokens are together all codes are made anew of codes, under one scale of each channel
# caught by: quantized
# only: quantized, capacity
import numpy as np

SEGMENT = 32


class Int8Cache:
    """Keys and values of one sequence, (heads, head_dim) per token, as codes with a scale per channel."""

    def __init__(self, num_heads, head_dim):
        width = num_heads * head_dim
        self.shape = (num_heads, head_dim)
        self.codes = [np.zeros((0, width), np.int8) for _ in range(2)]
        self.scales = [np.ones(width, np.float32) for _ in range(2)]
        self.tails = [np.zeros((0, width), np.float32) for _ in range(2)]

    def append(self, k, v):
        """k, v: (num_heads, head_dim) of one token; what has no 32 tokens yet waits in float."""
        for part, x in enumerate((k, v)):
            self.tails[part] = np.concatenate([self.tails[part], x.reshape(1, -1)])
            if len(self.tails[part]) == SEGMENT:
                self._seal(part)

    def _seal(self, part):
        whole = np.concatenate([self.codes[part] * self.scales[part], self.tails[part]])
        self.scales[part] = np.maximum(np.abs(whole).max(axis=0) / 127.0, 1e-9).astype(np.float32)
        self.codes[part] = np.rint(whole / self.scales[part]).astype(np.int8)
        self.tails[part] = self.tails[part][:0]

    def read(self):
        """Keys and values, (tokens, num_heads, head_dim) each."""
        return tuple(
            np.concatenate([codes * scales, tail]).reshape(-1, *self.shape)
            for codes, scales, tail in zip(self.codes, self.scales, self.tails, strict=True)
        )
