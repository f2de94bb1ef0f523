# style: parameters in a dict that every function takes; gradients in another
# only: projection, ste
import numpy as np


def init(in_dim, out_dim, seed=0):
    rng = np.random.default_rng(seed)
    return {"W": rng.normal(size=(out_dim, in_dim)), "b": np.zeros(out_dim)}


def ternarize(W, g=128):
    out = np.zeros_like(W)
    for j in range(0, W.shape[1], g):
        part = W[:, j:j + g]
        s = np.abs(part).mean(1, keepdims=True)
        out[:, j:j + g] = np.where(np.abs(part) > s / 2, np.sign(part) * s, 0)
    return out


def ternary_forward(params, x):
    Wt = ternarize(params["W"])
    return x @ Wt.T + params["b"], (x, Wt)


def ternary_backward(dy, cache):
    x, Wt = cache
    return dy @ Wt, {"W": dy.T @ x, "b": dy.sum(0)}
