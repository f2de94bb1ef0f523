# bug: codes are cut off towards zero instead of rounded, so numbers are up to a whole step off
# caught by: quantized
import numpy as np


def quantize(tensor):
    """int8 codes and one scale per row."""
    scale = np.max(np.abs(tensor), axis=-1, keepdims=True) / 127.0
    scale = np.where(scale == 0.0, 1.0, scale)
    return (tensor / scale).astype(np.int8), scale.astype(np.float32)


def dequantize(codes, scale):
    return codes.astype(np.float32) * scale
