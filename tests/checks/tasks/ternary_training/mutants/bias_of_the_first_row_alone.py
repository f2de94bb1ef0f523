# bug: the bias gets the first row's gradient, and the input none
# caught by: ste
# passes: projection
import numpy as np


def ternarise(w, group_size=128):
    starts = range(0, w.shape[-1], group_size)
    parts = [w[..., i:i + group_size] for i in starts]
    means = [np.abs(p).mean(-1, keepdims=True) for p in parts]
    return np.concatenate([m * ((p > m / 2) * 1.0 - (p < -m / 2) * 1.0) for p, m in zip(parts, means)], -1)


def ternary_fwd(x, w, b):
    wq = ternarise(w)
    return {"y": x @ wq.T + b, "cache": (x, wq)}


def ternary_bwd(dy, cache):
    x, _ = cache
    return {"dw": dy.T @ x, "db": dy[0]}
