# bug: One scale for the whole matrix, as BitNet b1.58 has it; the group size is taken and never read
# caught by: projection
# passes: ste
import numpy as np


def bitlinear_forward(x, W, b, group_size=128):
    gamma = np.abs(W).mean()
    Wq = np.clip(np.round(W / (gamma + 1e-12)), -1, 1) * gamma
    return x @ Wq.T + b, (x, Wq)


def bitlinear_backward(dout, cache):
    x, Wq = cache
    return dout @ Wq, dout.T @ x, dout.sum(axis=0)
