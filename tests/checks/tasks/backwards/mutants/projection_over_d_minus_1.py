# bug: the projection is averaged over D − 1
# caught by: gradients, gradient_identities, degenerate, gradient_cost
import numpy as np


def forward(x, weight, bias, epsilon):
    c = x - np.einsum("btd->bt", x)[..., None] / x.shape[-1]
    r = (np.einsum("btd,btd->bt", c, c) / x.shape[-1] + epsilon)[..., None] ** -0.5
    return {"y": c * r * weight + bias, "cache": {"n": c * r, "r": r, "w": weight}}


def backward(grad_output, cache):
    n, r, w = cache["n"], cache["r"], cache["w"]
    g = grad_output * w
    k = (g * n).sum(-1, keepdims=True) / (n.shape[-1] - 1)
    return {
        "dx": r * (g - g.mean(-1, keepdims=True) - n * k),
        "dweight": (grad_output * n).sum((0, 1)),
        "dbias": grad_output.sum((0, 1)),
    }
