# bug: rounding differentiated as it is: only the scale hands a gradient on
# caught by: ste
# passes: projection
import numpy as np


def ternary_linear(x, weight, bias):
    n_out, n_in = weight.shape
    edges = list(range(0, n_in, 128)) + [n_in]
    scale = np.zeros_like(weight)
    for lo, hi in zip(edges, edges[1:]):
        scale[:, lo:hi] = np.abs(weight[:, lo:hi]).mean(axis=1, keepdims=True)
    level = np.where(np.abs(weight) > scale / 2, np.sign(weight), 0.0)

    def backward(dy):
        through = dy.T @ x
        dw = np.zeros_like(weight)
        for lo, hi in zip(edges, edges[1:]):
            ds = np.sum(through[:, lo:hi] * level[:, lo:hi], axis=1, keepdims=True)
            dw[:, lo:hi] = ds * np.sign(weight[:, lo:hi]) / (hi - lo)
        return dy @ (scale * level), dw, dy.sum(0)

    return x @ (scale * level).T + bias, backward
