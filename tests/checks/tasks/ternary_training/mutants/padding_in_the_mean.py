# bug: the last group of a row borrows padding zeros in its mean
# caught by: projection
# passes: ste
import numpy as np


def ternary_project(W, group_size=128):
    out_features, in_features = W.shape
    n = int(np.ceil(in_features / group_size))
    padded = np.zeros((out_features, n * group_size))
    padded[:, :in_features] = W
    grouped = padded.reshape(out_features, n, group_size)
    s = np.abs(grouped).mean(axis=2, keepdims=True)
    q = np.clip(np.round(grouped / (s + 1e-10)), -1, 1) * s
    return q.reshape(out_features, -1)[:, :in_features]


def ternary_linear(x, W, b):
    Wq = ternary_project(W)

    def backward(dy):
        return dy @ Wq, dy.T @ x, dy.sum(axis=0)

    return x @ Wq.T + b, backward
