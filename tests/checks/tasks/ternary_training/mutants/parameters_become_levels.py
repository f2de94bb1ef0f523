# bug: training keeps the projection of its updated weights in the place of those
# caught by: projection
# only: projection, ste
import numpy as np

GROUP = 128


def project(w):
    q = np.empty_like(w)
    for at in range(0, w.shape[1], GROUP):
        part = w[:, at : at + GROUP]
        s = np.abs(part).mean(axis=1, keepdims=True)
        q[:, at : at + GROUP] = s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1)
    return q


def ternary_forward(x, w, b):
    q = project(w)
    return x @ q.T + b, (x, q)


def ternary_backward(dy, cache):
    x, q = cache
    return dy @ q, dy.T @ x, dy.sum(axis=0)


def fit(params, batches, lr=0.01):
    for x, target in batches:
        y, cache = ternary_forward(x, params["w"], params["b"])
        _, dw, db = ternary_backward((y - target) / len(x), cache)
        params["w"] = project(params["w"] - lr * dw)
        params["b"] = params["b"] - lr * db
    return params
