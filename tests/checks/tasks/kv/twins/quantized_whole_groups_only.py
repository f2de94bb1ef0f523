# Groups of 32 along the last axis about a middle of their own; what does not divide into them is refused.
# only: quantized
import numpy as np


def quantize_groups(x, group_size=32):
    """x (..., D) -> int8 codes, half of every group's range, its middle."""
    if x.shape[-1] % group_size:
        raise ValueError(f"last axis {x.shape[-1]} is no multiple of {group_size}")
    blocks = x.reshape(*x.shape[:-1], -1, group_size)
    high, low = blocks.max(-1), blocks.min(-1)
    middle = ((high + low) * 0.5).astype(np.float32)
    half = ((high - low) * 0.5).astype(np.float32)
    unit = np.divide(blocks - middle[..., None], half[..., None], where=half[..., None] > 0, out=np.zeros_like(blocks))
    return np.rint(unit * 127).astype(np.int8).reshape(x.shape), half, middle


def dequantize_groups(codes, half, middle):
    blocks = codes.reshape(*half.shape, -1) / np.float32(127)
    return (blocks * half[..., None] + middle[..., None]).reshape(codes.shape)
