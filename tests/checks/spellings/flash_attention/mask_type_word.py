"""A word says how to mask; an enumeration's member is wanted, not its text."""
from enum import Enum, auto

import numpy as np


class MaskType(Enum):
    NONE = auto()
    CAUSAL = auto()


def tiled_attention(query, key, value, block_size=32, mask_type=MaskType.CAUSAL):
    n = query.shape[2]
    out = np.zeros_like(query)
    for lo in range(0, n, block_size):
        q = query[:, :, lo : lo + block_size] * query.shape[-1] ** -0.5
        m = np.full((*q.shape[:3], 1), -np.inf)
        l, acc = np.zeros_like(m), np.zeros_like(q)
        for at in range(0, n, block_size):
            if mask_type is MaskType.CAUSAL and at >= lo + q.shape[2]:
                break
            s = q @ np.swapaxes(key[:, :, at : at + block_size], -1, -2)
            if mask_type is MaskType.CAUSAL:
                s = np.where(np.tri(q.shape[2], s.shape[3], lo - at, dtype=bool), s, -np.inf)
            top = np.maximum(m, s.max(-1, keepdims=True))
            ref = np.where(np.isfinite(top), top, 0)
            p, c = np.exp(s - ref), np.exp(m - ref)
            l, acc, m = c * l + p.sum(-1, keepdims=True), c * acc + p @ value[:, :, at : at + block_size], top
        out[:, :, lo : lo + block_size] = np.divide(acc, l, out=np.zeros_like(acc), where=l > 0)
    return out
