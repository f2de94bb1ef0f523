# A value with its codes and scales, made by a class method, scales per 16 channels in half precision.
# only: quantized
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class QTensor:
    data: np.ndarray
    scales: np.ndarray
    width: int

    @classmethod
    def quantize(cls, values):
        width = values.shape[-1]
        size = 16 if width % 16 == 0 else width
        groups = values.reshape(*values.shape[:-1], width // size, size)
        scales = (np.abs(groups).max(-1, keepdims=True) / 127).astype(np.float16)
        codes = np.clip(np.rint(groups / np.maximum(scales, np.float16(6e-8)).astype(np.float32)), -127, 127)
        return cls(codes.astype(np.int8), scales, width)

    def dequantize(self):
        x = self.data.astype(np.float32) * self.scales.astype(np.float32)
        return x.reshape(*x.shape[:-2], self.width)
