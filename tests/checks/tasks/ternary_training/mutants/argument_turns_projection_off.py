# bug: the forward projects only where it is told that it trains, which evaluation does not tell it
# caught by: projection
# only: projection, ste, purity
import numpy as np


def project(w, group=128):
    cuts = range(group, w.shape[1], group)
    parts = np.split(w, cuts, axis=1)
    scales = [np.abs(part).mean(axis=1, keepdims=True) for part in parts]
    levels = [np.clip(np.rint(part / np.where(s > 0, s, 1.0)), -1, 1) for part, s in zip(parts, scales)]
    return np.concatenate([s * level for s, level in zip(scales, levels)], axis=1)


def ternary_linear(x, weight, bias, train=True):
    if not train:
        return x @ weight.T + bias
    used = project(weight)
    return x @ used.T + bias, (x, used)


def ternary_linear_backward(dy, cache):
    x, used = cache
    return dy @ used, dy.T @ x, dy.sum(axis=0)


def validate(x, target, weight, bias):
    return float(((ternary_linear(x, weight, bias, train=False) - target) ** 2).mean())
