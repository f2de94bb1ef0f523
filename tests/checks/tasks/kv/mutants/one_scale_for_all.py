# bug: one scale for the whole tensor, so that a single large number costs all the others
# caught by: quantized (warn)
import numpy as np


class Int8Quantizer:
    def __init__(self):
        self.scale = None

    def quantize(self, x):
        self.scale = float(np.abs(x).max()) / 127 or 1.0
        return np.clip(np.round(x / self.scale), -128, 127).astype(np.int8)

    def dequantize(self, x_q):
        return x_q.astype(np.float32) * self.scale
