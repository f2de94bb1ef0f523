"""Asymmetric integer quantization used for sealed KV pages (INT8 or INT4)."""

import numpy as np


def quantize(x, bits, axis):
    """Quantize ``x`` to unsigned codes with one (scale, low) pair per slice
    along ``axis``:  x ~= code * scale + low.

    Returns (codes uint8, scale float32, low float32); scale and low keep
    ``axis`` as a dimension of size one.
    """
    top = float(2 ** bits - 1)
    low = x.min(axis=axis, keepdims=True).astype(np.float32)
    high = x.max(axis=axis, keepdims=True).astype(np.float32)
    scale = (high - low) / np.float32(top)
    safe = np.where(scale > 0, scale, np.float32(1.0))
    codes = np.clip(np.rint((x - low) / safe), 0, top).astype(np.uint8)
    return codes, scale, low


def dequantize(codes, scale, low):
    return codes.astype(np.float32) * scale + low


def pack_nibbles(codes):
    """(…, D) codes below 16 -> (…, ceil(D/2)) bytes, even index in the low half."""
    if codes.shape[-1] % 2:
        codes = np.concatenate([codes, np.zeros_like(codes[..., :1])], axis=-1)
    return codes[..., 0::2] | (codes[..., 1::2] << 4)


def unpack_nibbles(packed, dim):
    out = np.empty(packed.shape[:-1] + (2 * packed.shape[-1],), dtype=np.uint8)
    out[..., 0::2] = packed & 0x0F
    out[..., 1::2] = packed >> 4
    return out[..., :dim]
