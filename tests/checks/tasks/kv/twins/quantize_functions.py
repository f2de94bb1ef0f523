# Two functions, a scale and a zero per row, and the width as an option.
# only: quantized
import numpy as np


def quantize_kv(kv_tensor, axis=-1, n_bits=8):
    """-> codes (uint8), scale, zero point"""
    low = np.min(kv_tensor, axis=axis, keepdims=True)
    high = np.max(kv_tensor, axis=axis, keepdims=True)
    scale = (high - low) / (2**n_bits - 1)
    scale = np.where(scale == 0, 1, scale).astype(np.float32)
    codes = np.round((kv_tensor - low) / scale).astype(np.uint8)
    if n_bits == 4:
        odd = codes.shape[-1] % 2
        codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, odd)])
        codes = codes[..., ::2] + 16 * codes[..., 1::2]
    return codes, scale, low.astype(np.float32)


def dequantize_kv(codes, scale, zero_point, n_bits=8):
    if n_bits == 4:
        codes = np.stack([codes % 16, codes // 16], -1).reshape(*codes.shape[:-1], -1)
    return codes.astype(np.float32) * scale + zero_point
