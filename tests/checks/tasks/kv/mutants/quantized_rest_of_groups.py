# bug: what is left over behind the last whole group takes the scale of the group before
# caught by: quantized
# only: quantized
import numpy as np

GROUP = 8


def quantize(x):
    """int8 codes of x (..., D), one float32 scale for every eight channels."""
    count = max(1, x.shape[-1] // GROUP)
    edges = np.arange(count) * GROUP
    peaks = np.stack([np.abs(x[..., e : e + GROUP]).max(-1) for e in edges], -1)
    scales = np.where(peaks == 0, 1, peaks / 127).astype(np.float32)
    owner = np.minimum(np.arange(x.shape[-1]) // GROUP, count - 1)
    return np.clip(np.rint(x / scales[..., owner]), -127, 127).astype(np.int8), scales


def dequantize(codes, scales):
    owner = np.minimum(np.arange(codes.shape[-1]) // GROUP, scales.shape[-1] - 1)
    return codes.astype(np.float32) * scales[..., owner]
