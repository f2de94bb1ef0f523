"""Building blocks for the decoder: RMSNorm, rotary embedding, SwiGLU, KV store."""

import numpy as np


def rms_norm(x, weight, eps=1e-6):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def rope(x, positions, base=10000.0):
    """Rotate ``x`` (B, T, H, D) by absolute ``positions`` (B, T). D is even."""
    d = x.shape[-1]
    freq = base ** (-np.arange(0, d, 2) / d)
    angle = positions[:, :, None, None] * freq            # (B, T, 1, D/2)
    c, s = np.cos(angle), np.sin(angle)
    a, b = x[..., 0::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., 0::2] = a * c - b * s
    out[..., 1::2] = a * s + b * c
    return out


def swiglu(x, w_gate, w_up, w_down):
    g = x @ w_gate
    return (g / (1.0 + np.exp(-g)) * (x @ w_up)) @ w_down


class KVStore:
    """Preallocated storage (layer, batch, position, kv head, head dim).

    Lengths are shared by all layers: a forward pass writes every layer at the
    same offsets and calls :meth:`commit` once, at its end.
    """

    def __init__(self, n_layers, batch, max_len, n_kv_heads, head_dim):
        shape = (n_layers, batch, max_len, n_kv_heads, head_dim)
        self.k = np.zeros(shape)
        self.v = np.zeros(shape)
        self.max_len = max_len
        self.lengths = np.zeros(batch, dtype=int)

    def check_room(self, n_new):
        need = self.lengths + n_new
        if (need > self.max_len).any():
            row = int(np.argmax(need))
            raise ValueError(
                f"KV cache full: row {row} would hold {need[row]} tokens, max_len={self.max_len}")

    def write(self, layer, k, v, n_new):
        """Write the first ``n_new[b]`` tokens of each row of k, v (B, T, Hkv, D)."""
        for b, n in enumerate(n_new):
            s = self.lengths[b]
            self.k[layer, b, s:s + n] = k[b, :n]
            self.v[layer, b, s:s + n] = v[b, :n]

    def view(self, layer, upto):
        return self.k[layer, :, :upto], self.v[layer, :, :upto]

    def commit(self, n_new):
        self.lengths = self.lengths + n_new
