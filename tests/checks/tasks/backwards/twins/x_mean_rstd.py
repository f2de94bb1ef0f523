"""Keeps x with its two statistics, which is as small as keeping the normalized x."""
import numpy as np


def ln_fwd(inputs, weight, bias, epsilon):
    mean = inputs.mean(axis=-1)
    rstd = 1 / np.sqrt(inputs.var(axis=-1) + epsilon)
    out = (inputs - mean[..., None]) * rstd[..., None] * weight + bias
    return out, (inputs, mean, rstd, weight)


def ln_bwd(grad_output, ctx):
    inputs, mean, rstd, weight = ctx
    normed = (inputs - mean[..., None]) * rstd[..., None]
    wdy = weight * grad_output
    c1 = (wdy * normed).mean(-1, keepdims=True)
    c2 = wdy.mean(-1, keepdims=True)
    grad_input = (wdy - (normed * c1 + c2)) * rstd[..., None]
    grad_weight = np.einsum("btd,btd->d", grad_output, normed)
    return grad_input, grad_weight, np.einsum("btd->d", grad_output)
