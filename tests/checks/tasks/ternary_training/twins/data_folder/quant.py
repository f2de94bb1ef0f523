# style: codes and scales apart, a layer of functions, texts in a folder of their own, a log of key=value
"""Group-wise ternary projection and an STE linear layer (functional)."""
import numpy as np


def ternarize(weight, group_size=128):
    """Returns (codes int8, scales) with weight ~ codes * scales, groups over the flattened last axis.

    The last group may be ragged. A group of zeros gets scale 0 and codes 0.
    """
    rows, cols = weight.shape
    n_groups = -(-cols // group_size)
    codes = np.zeros(weight.shape, np.int8)
    scales = np.zeros((rows, n_groups), weight.dtype)
    for g in range(n_groups):
        a, b = g * group_size, min(cols, (g + 1) * group_size)
        blk = weight[:, a:b]
        s = np.mean(np.abs(blk), axis=1)
        scales[:, g] = s
        half = 0.5 * s[:, None]
        codes[:, a:b] = (blk > half).astype(np.int8) - (blk < -half).astype(np.int8)
    return codes, scales


def dequantize(codes, scales, group_size=128):
    full = np.repeat(scales, group_size, axis=1)[:, : codes.shape[1]]
    return codes * full


def ternary_linear_forward(x, weight, bias=None, group_size=128):
    """x (n, in), latent weight (out, in) -> y (n, out), ctx"""
    wq = dequantize(*ternarize(weight, group_size), group_size)
    y = x @ wq.T
    if bias is not None:
        y = y + bias
    return y, (x, wq)


def ternary_linear_backward(grad_y, ctx):
    """STE: gradient of the quantized weight is handed to the latent weight as it is."""
    x, wq = ctx
    return grad_y @ wq, grad_y.T @ x, grad_y.sum(axis=0)
