"""The chain rule in two stages: through the variance, then through the mean."""
import numpy as np


def forward_pass(x, gamma, beta, eps=1e-5):
    N = x.shape[-1]
    mu = x.sum(-1, keepdims=True) / N
    xmu = x - mu
    sqrtvar = np.sqrt((xmu * xmu).sum(-1, keepdims=True) / N + eps)
    out = gamma * (xmu / sqrtvar) + beta
    saved = (xmu, sqrtvar, gamma)
    return out, saved


def backward_pass(dout, saved):
    xmu, sqrtvar, gamma = saved
    N = dout.shape[-1]
    ivar = 1.0 / sqrtvar
    dgammax = dout * gamma
    dbeta = np.sum(dout, axis=(0, 1), keepdims=True)
    dgamma = np.sum(dout * xmu * ivar, axis=(0, 1), keepdims=True)
    divar = np.sum(dgammax * xmu, axis=-1, keepdims=True)
    dxmu1 = dgammax * ivar
    dvar = 0.5 * ivar * (-1.0 / sqrtvar**2) * divar
    dxmu2 = 2 * xmu * dvar / N * np.ones_like(dout)
    dx1 = dxmu1 + dxmu2
    dmu = -1 * np.sum(dx1, axis=-1, keepdims=True)
    return dx1 + dmu / N, dgamma, dbeta
