# bug: scales are kept in float16
# caught by: projection
"""Group-wise ternary ("1.58 bit") linear layer with float32 master weights.

Storage format: int8 trits plus one half-precision scale per group of 128 weights of a row.  The
training forward goes through exactly this format, so what is trained is what is shipped.
"""
from dataclasses import dataclass

import numpy as np


@dataclass
class PackedTernary:
    trits: np.ndarray       # (out, in) int8
    scales: np.ndarray      # (out, groups)
    group_size: int

    def dequantize(self) -> np.ndarray:
        """(out, in) float32 matrix of scale * trit."""
        spread = np.repeat(self.scales.astype(np.float32), self.group_size, axis=1)
        return self.trits * spread[:, : self.trits.shape[1]]


def quantize(weight: np.ndarray, group_size: int = 128) -> PackedTernary:
    """Absmean quantization, s = mean|W| per group; the last group of a row may be ragged."""
    weight = np.asarray(weight, dtype=np.float32)
    out_features, in_features = weight.shape
    trits = np.empty(weight.shape, dtype=np.int8)
    scales = []
    for lo in range(0, in_features, group_size):
        block = weight[:, lo:lo + group_size]
        scale = np.abs(block).mean(axis=1, dtype=np.float64)
        safe = np.where(scale > 0, scale, 1.0)
        trits[:, lo:lo + group_size] = np.clip(np.rint(block / safe[:, None]), -1, 1)
        scales.append(scale)
    return PackedTernary(trits, np.stack(scales, axis=1).astype(np.float16), group_size)


def ternary_project(weight: np.ndarray, group_size: int = 128) -> np.ndarray:
    """The matrix that the forward pass multiplies by."""
    return quantize(weight, group_size).dequantize()


class BitLinear:
    """y = x W_q^T (no bias); W_q = ternary_project(self.weight)."""

    def __init__(self, in_features: int, out_features: int, rng: np.random.Generator, group_size: int = 128):
        self.weight = rng.normal(0.0, 0.02, (out_features, in_features)).astype(np.float32)
        self.grad = np.zeros_like(self.weight)
        self.group_size = group_size
        self._x = self._wq = None

    def forward(self, x: np.ndarray) -> np.ndarray:
        self._x = np.array(x, dtype=np.float32)
        self._wq = ternary_project(self.weight, self.group_size)
        return self._x @ self._wq.T

    def backward(self, grad_out: np.ndarray) -> np.ndarray:
        """Straight-through estimator: d/dW := d/dW_q, the scale counts as a constant."""
        g = np.asarray(grad_out, dtype=np.float32)
        self.grad = g.reshape(-1, g.shape[-1]).T @ self._x.reshape(-1, self._x.shape[-1])
        return g @ self._wq
