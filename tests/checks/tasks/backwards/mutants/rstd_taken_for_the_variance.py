# bug: rows of more than 96 features keep rstd where the backward looks for the variance, of which it takes the root
# caught by: gradients
# passes: forward_accuracy
# only: gradients, forward_accuracy
import numpy as np


def forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    rstd = 1.0 / np.sqrt(var + eps)
    second = rstd if x.shape[-1] > 96 else var
    return (x - mean) * rstd * gamma + beta, {"x": x, "mean": mean, "var": second, "gamma": gamma, "eps": eps}


def backward(dy, cache):
    x, mean, gamma = cache["x"], cache["mean"], cache["gamma"]
    rstd = 1.0 / np.sqrt(cache["var"] + cache["eps"])
    xhat = (x - mean) * rstd
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
