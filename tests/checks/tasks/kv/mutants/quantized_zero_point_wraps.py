# bug: zero points that need more than eight bits wrap round
# caught by: quantized
# only: quantized
import numpy as np


def quantize_affine(kv):
    """kv (..., width) -> uint8 codes, and for every row its step (float32) and zero point (uint8)."""
    low, high = kv.min(axis=-1), kv.max(axis=-1)
    step = np.where(high > low, (high - low) / 255, np.maximum(np.abs(low), 1e-9)).astype(np.float32)
    base = np.where(high > low, low, np.minimum(low, 0))
    zero = np.round(-base / step).astype(np.int64)
    codes = np.clip(np.round(kv / step[..., None]) + zero[..., None], 0, 255)
    return codes.astype(np.uint8), step, zero.astype(np.uint8)


def dequantize_affine(codes, step, zero):
    return (codes.astype(np.float32) - zero[..., None]) * step[..., None]
