# Scales over the tokens of a channel, which is the first of two axes.
# only: quantized
import numpy as np
def quantize_per_channel(x, axis=0):
    amax = np.max(np.abs(x), axis=axis, keepdims=True)
    scale = np.where(amax == 0, 1.0, amax / 127.0)
    return np.round(x / scale).astype(np.int8), scale
def dequantize_per_channel(x_q, scale):
    return x_q.astype(np.float32) * scale
