# bug: the code −8 comes back as +8
# caught by: quantized
"""INT4 KV cache: two codes per byte, a float16 scale per group of channels."""

import numpy as np

GROUP = 8


def pack_int4(codes):
    """codes (..., D) int8 in [-8, 7], D even -> (..., D // 2) uint8; even channels in the low nibble."""
    u = codes.astype(np.uint8) & 0x0F
    return u[..., 0::2] | (u[..., 1::2] << 4)


def unpack_int4(packed):
    """Inverse of pack_int4."""
    low = (packed & 0x0F).astype(np.int8)
    high = (packed >> 4).astype(np.int8)
    low = np.where(low > 8, low - 16, low)
    high = np.where(high > 8, high - 16, high)
    out = np.empty(packed.shape[:-1] + (packed.shape[-1] * 2,), dtype=np.int8)
    out[..., 0::2] = low
    out[..., 1::2] = high
    return out


def quantize_int4(x, group=GROUP):
    """x (..., D) -> packed (..., D // 2) uint8, scale (..., D // group) float16."""
    g = x.reshape(x.shape[:-1] + (x.shape[-1] // group, group)).astype(np.float32)
    low, high = g.min(-1), g.max(-1)
    scale = np.maximum(-low / 8.0, high / 7.0).astype(np.float16).astype(np.float32)
    scale = np.where(scale == 0, 1.0, scale)
    codes = np.clip(np.round(g / scale[..., None]), -8, 7).astype(np.int8).reshape(x.shape)
    return pack_int4(codes), scale.astype(np.float16)


def dequantize_int4(packed, scale, group=GROUP):
    codes = unpack_int4(packed).astype(np.float32)
    g = codes.reshape(codes.shape[:-1] + (codes.shape[-1] // group, group))
    return (g * scale[..., None].astype(np.float32)).reshape(codes.shape)


class Int4KVCache:
    """Preallocated, (B, H, max_len, D // 2) bytes for K and the same for V."""

    def __init__(self, batch, num_heads, max_len, head_dim, group=GROUP):
        self.group = group
        self.max_len = max_len
        self.length = 0
        codes = (batch, num_heads, max_len, head_dim // 2)
        scales = (batch, num_heads, max_len, head_dim // group)
        self.k_codes = np.zeros(codes, np.uint8)
        self.v_codes = np.zeros(codes, np.uint8)
        self.k_scale = np.zeros(scales, np.float16)
        self.v_scale = np.zeros(scales, np.float16)

    def update(self, k, v):
        """Append k, v (B, H, T, D) float."""
        t = k.shape[2]
        if self.length + t > self.max_len:
            raise ValueError("KV cache overflow")
        at = slice(self.length, self.length + t)
        self.k_codes[:, :, at], self.k_scale[:, :, at] = quantize_int4(k, self.group)
        self.v_codes[:, :, at], self.v_scale[:, :, at] = quantize_int4(v, self.group)
        self.length += t

    def read(self):
        """Dequantized (B, H, S, D) float32, keys then values."""
        at = slice(0, self.length)
        return (
            dequantize_int4(self.k_codes[:, :, at], self.k_scale[:, :, at], self.group),
            dequantize_int4(self.v_codes[:, :, at], self.v_scale[:, :, at], self.group),
        )

    def nbytes(self):
        return sum(a.nbytes for a in (self.k_codes, self.v_codes, self.k_scale, self.v_scale))
