# bug: sign(W)·s: nothing becomes 0
# caught by: projection
# passes: ste
import numpy as np


def ternarize(w, group_size=128):
    out = np.zeros_like(w)
    for lo in range(0, w.shape[1], group_size):
        hi = min(lo + group_size, w.shape[1])
        out[:, lo:hi] = np.sign(w[:, lo:hi]) * np.abs(w[:, lo:hi]).mean(axis=1, keepdims=True)
    return out


def ternary_linear_fwd(x, weight, bias):
    wt = ternarize(weight)
    return x.dot(wt.T) + bias, (x, wt)


def ternary_linear_bwd(grad_out, saved):
    x, wt = saved
    return grad_out.dot(wt), grad_out.T.dot(x), grad_out.sum(axis=0)
