# bug: what dx takes off is worked out in the array of normalised rows, which dgamma reads behind it
# caught by: gradients
# passes: forward_accuracy
# only: gradients, forward_accuracy
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    return gamma * centred * rstd + beta, {"centred": centred, "rstd": rstd, "gamma": gamma}


def layernorm_backward(dy, cache):
    rstd = cache["rstd"]
    work = cache["centred"] * rstd
    g = dy * cache["gamma"]
    along = (g * work).mean(axis=-1, keepdims=True)
    work *= along
    work += g.mean(axis=-1, keepdims=True)
    return rstd * (g - work), (dy * work).sum(axis=(0, 1)), dy.sum(axis=(0, 1))
