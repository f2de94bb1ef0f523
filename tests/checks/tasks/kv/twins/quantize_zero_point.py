# A whole zero point, as integer arithmetic wants it, so that one end of a range may saturate.
# only: quantized
import numpy as np


class AffineQuantizer:
    QMIN, QMAX = 0, 255

    @classmethod
    def encode(cls, tensor):
        low = np.minimum(tensor.min(axis=-1, keepdims=True), 0)
        high = np.maximum(tensor.max(axis=-1, keepdims=True), 0)
        scale = np.where(high > low, (high - low) / (cls.QMAX - cls.QMIN), 1.0).astype(np.float32)
        zero = np.clip(np.round(-low / scale), cls.QMIN, cls.QMAX).astype(np.uint8)
        codes = np.clip(np.round(tensor / scale) + zero, cls.QMIN, cls.QMAX).astype(np.uint8)
        return {"q": codes, "scale": scale, "zero": zero}

    @classmethod
    def decode(cls, q, scale, zero):
        return (q.astype(np.float32) - zero) * scale
