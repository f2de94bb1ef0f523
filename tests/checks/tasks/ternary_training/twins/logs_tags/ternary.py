# style: JSON lines with the name of what is measured as text, a learning rate among them
# only: convergence
import numpy as np

GROUP_SIZE = 128


def ternary_project(W, group_size=GROUP_SIZE, eps=1e-8):
    out_f, in_f = W.shape
    result = np.zeros_like(W)
    for start in range(0, in_f, group_size):
        block = W[:, start : start + group_size]
        s = np.abs(block).mean(axis=1, keepdims=True)
        result[:, start : start + group_size] = s * np.clip(np.round(block / (s + eps)), -1, 1)
    return result
