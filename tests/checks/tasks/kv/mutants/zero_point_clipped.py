# bug: the zero point is clipped, and the range is not widened to hold 0: vectors of one sign saturate
# caught by: quantized
# passes: incremental_equals_full
"""Dense slot KV cache with optional 8-bit storage.

``KVStore(..., bits=None)`` keeps tensors as they are; ``bits=8`` stores one byte per element with a scale and a zero
point per (token, head).  Layout: [layer, slot, position, kv_head, head_dim].
"""
import numpy as np


def quantize(x):
    """Affine 8-bit codes along the last axis: returns (codes uint8, scale float32, zero uint8); x ~ (codes - zero) * scale."""
    x = np.asarray(x, dtype=np.float32)
    lo = x.min(axis=-1, keepdims=True)
    hi = x.max(axis=-1, keepdims=True)
    scale = (hi - lo) / np.float32(255)
    scale = np.where(scale > 0, scale, np.maximum(np.abs(hi), np.float32(1e-8))).astype(np.float32)
    zero = np.clip(np.rint(-lo / scale), 0, 255)
    codes = np.clip(np.rint(x / scale) + zero, 0, 255)
    return codes.astype(np.uint8), scale, zero.astype(np.uint8)


def dequantize(codes, scale, zero):
    return (codes.astype(np.float32) - zero.astype(np.float32)) * scale


class _Plane:
    """Keys or values of all layers and slots."""

    def __init__(self, shape, dtype, bits):
        self.bits = bits
        if bits is None:
            self.data = np.zeros(shape, dtype)
        else:
            self.data = np.zeros(shape, np.uint8)
            self.scale = np.zeros(shape[:-1] + (1,), np.float32)
            self.zero = np.zeros(shape[:-1] + (1,), np.uint8)

    def put(self, where, x):
        if self.bits is None:
            self.data[where] = x
        else:
            self.data[where], self.scale[where], self.zero[where] = quantize(x)

    def get(self, where):
        if self.bits is None:
            return self.data[where]
        return dequantize(self.data[where], self.scale[where], self.zero[where])

    @property
    def nbytes(self):
        return self.data.nbytes + (0 if self.bits is None else self.scale.nbytes + self.zero.nbytes)


class KVStore:
    def __init__(self, n_layers, n_slots, max_len, n_kv_heads, head_dim, dtype=np.float32, bits=None):
        if bits not in (None, 8):
            raise ValueError("bits must be None or 8")
        shape = (n_layers, n_slots, max_len, n_kv_heads, head_dim)
        self.keys = _Plane(shape, dtype, bits)
        self.values = _Plane(shape, dtype, bits)
        self.max_len = max_len
        self.lengths = np.zeros((n_layers, n_slots), dtype=np.int64)

    @property
    def nbytes(self):
        return self.keys.nbytes + self.values.nbytes

    def _check(self, slot):
        if not 0 <= slot < self.lengths.shape[1]:
            raise IndexError("no slot %r" % (slot,))

    def extend(self, layer, slot, keys, values):
        """Append keys, values of shape (n, n_kv_heads, head_dim) to a slot (n = 1 when decoding)."""
        self._check(slot)
        if keys.shape != values.shape or keys.shape[1:] != self.keys.data.shape[3:]:
            raise ValueError("bad shapes %s, %s" % (keys.shape, values.shape))
        a = self.lengths[layer, slot]
        b = a + len(keys)
        if b > self.max_len:
            raise OverflowError("slot %d holds %d of %d tokens, cannot take %d" % (slot, a, self.max_len, len(keys)))
        self.keys.put((layer, slot, slice(a, b)), keys)
        self.values.put((layer, slot, slice(a, b)), values)
        self.lengths[layer, slot] = b

    def view(self, layer, slot):
        """(keys, values) written so far, dequantized if need be: (length, n_kv_heads, head_dim)."""
        self._check(slot)
        where = (layer, slot, slice(0, self.lengths[layer, slot]))
        return self.keys.get(where), self.values.get(where)

    def release(self, slot):
        """Forget a slot's tokens in all layers; releasing twice is harmless."""
        self._check(slot)
        self.lengths[:, slot] = 0


def cached_attention(store, layer, slot, queries):
    """queries (n, n_heads, head_dim) of the slot's latest n tokens -> (n, n_heads, head_dim), causal."""
    keys, values = store.view(layer, slot)
    n, n_heads, d = queries.shape
    total, n_kv, _ = keys.shape
    if n > total:
        raise ValueError("extend the slot before attending")
    out = np.empty(queries.shape, np.result_type(queries, values))
    keep = np.arange(total)[None, :] <= (np.arange(n) + total - n)[:, None]
    for h in range(n_heads):
        g = h * n_kv // n_heads
        s = queries[:, h] @ keys[:, g].T / np.sqrt(d).astype(out.dtype)
        s = np.where(keep, s, -np.inf)
        p = np.exp(s - s.max(axis=1, keepdims=True))
        out[:, h] = (p / p.sum(axis=1, keepdims=True)) @ values[:, g]
    return out


def cache_bytes(n_layers, n_kv_heads, head_dim, tokens, bits=16):
    """Size of the cache in bytes; the 8-bit mode adds five bytes (scale, zero point) per token, head and tensor."""
    per_head = head_dim * bits // 8 + (5 if bits == 8 else 0)
    return 2 * n_layers * n_kv_heads * tokens * per_head
