# bug: how many tokens become codes follows from those of the call, so that single steps never turn any into codes
# caught by: quantized
import numpy as np


class Int8KVCache:
    """(B, H, N, D): the newest tokens as they are, older ones as int8 with a scale per token and head."""

    def __init__(self, batch_size, num_heads, head_dim, window=12):
        self.window = window
        none = np.zeros((batch_size, num_heads, 0, head_dim), np.float32)
        self.recent = [none, none]
        self.codes = [none.astype(np.int8)] * 2
        self.scales = [none[..., :1]] * 2

    def append(self, k, v):
        """k, v: (B, H, T, D)."""
        self.recent = [np.concatenate(pair, axis=2) for pair in zip(self.recent, (k, v), strict=True)]
        old = max(0, k.shape[2] - self.window)
        for i, x in enumerate(self.recent):
            scale = np.maximum(np.abs(x[:, :, :old]).max(axis=-1, keepdims=True), 1e-12) / 127
            codes = np.rint(x[:, :, :old] / scale).astype(np.int8)
            self.codes[i] = np.concatenate([self.codes[i], codes], axis=2)
            self.scales[i] = np.concatenate([self.scales[i], scale.astype(np.float32)], axis=2)
        self.recent = [x[:, :, old:].copy() for x in self.recent]

    def read(self):
        """All keys and values, (B, H, S, D)."""
        held = zip(self.codes, self.scales, self.recent, strict=True)
        return tuple(np.concatenate([c * s, x], axis=2) for c, s, x in held)


def attend(q, cache):
    """q: (B, H, 1, D) of the newest token."""
    k, v = cache.read()
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
