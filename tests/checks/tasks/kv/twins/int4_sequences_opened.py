# style: an int4 cache of sequences that are registered by their id before they are written
# only: quantized
import numpy as np


def pack(codes):
    """Two signed codes per byte, the first in the high nibble."""
    u = (codes & 0xF).astype(np.uint8)
    return (u[..., ::2] << 4) | u[..., 1::2]


def unpack(packed):
    out = np.empty((*packed.shape[:-1], 2 * packed.shape[-1]), np.int8)
    out[..., ::2], out[..., 1::2] = packed >> 4, packed & 0xF
    return np.where(out > 7, out - 16, out)


class QuantizedInt4Cache:
    """Per sequence: a list of tokens, each (packed codes (H, D/2), scale (H,), minimum-free)."""

    def __init__(self, num_heads, head_dim):
        self.shape = num_heads, head_dim
        self.tokens = {}

    def add_sequence(self, seq_id):
        if seq_id in self.tokens:
            raise KeyError(f"sequence {seq_id} is there already")
        self.tokens[seq_id] = []

    def _coded(self, x):
        scale = np.abs(x).max(axis=-1, keepdims=True) / 7
        codes = np.rint(x / np.where(scale == 0, 1, scale)).astype(np.int8)
        return pack(codes), scale.astype(np.float16)

    def append(self, seq_id, k, v):
        """k, v: (H, D), one token."""
        self.tokens[seq_id].append((*self._coded(k), *self._coded(v)))

    def get(self, seq_id):
        """(S, H, D) twice."""
        rows = self.tokens[seq_id]
        k = np.stack([unpack(kc) * ks.astype(np.float32) for kc, ks, _vc, _vs in rows])
        v = np.stack([unpack(vc) * vs.astype(np.float32) for _kc, _ks, vc, vs in rows])
        return k, v

    def drop_sequence(self, seq_id):
        del self.tokens[seq_id]
