# bug: the weights' gradient is a mean over the batch, the input's is not
# caught by: ste
# passes: projection
import numpy as np


def project(W, gs=128):
    G = [W[i:i + gs] for i in range(0, W.shape[0], gs)]
    return np.concatenate([np.clip(np.round(g / (np.abs(g).mean(0) + 1e-12)), -1, 1) * np.abs(g).mean(0) for g in G])


class QATLinear:
    def __init__(self, fan_in, fan_out):
        self.w = np.random.default_rng(5).standard_normal((fan_in, fan_out))
        self.b = np.zeros(fan_out)

    def __call__(self, x):
        self.ctx = (x, project(self.w))
        return x @ self.ctx[1] + self.b

    def backward(self, g):
        x, wq = self.ctx
        self.gw = x.T @ g / len(x)
        self.gb = g.sum(0)
        return g @ wq.T
