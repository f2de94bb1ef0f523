# bug: two codes go into a byte, and the last one of an odd number is lost
# caught by: quantized
import numpy as np


def quantize_int4(x):
    scale = np.abs(x).max(-1, keepdims=True) / 7 + 1e-12
    codes = (np.clip(np.rint(x / scale), -8, 7) + 8).astype(np.uint8)
    even = codes[..., : codes.shape[-1] // 2 * 2]
    return even[..., 0::2] << 4 | even[..., 1::2], scale.astype(np.float16), x.shape[-1]


def dequantize_int4(packed, scale, length):
    codes = np.full((*packed.shape[:-1], length), 8, np.int16)
    codes[..., 0 : packed.shape[-1] * 2 : 2] = packed >> 4
    codes[..., 1 : packed.shape[-1] * 2 : 2] = packed & 15
    return (codes - 8) * scale.astype(np.float32)
