# style: AdamW that is handed layers with every step, weights in float32
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


class Ternary:
    """y = x Q^T + b with Q the projection of the latent weights, group by group along a row."""

    def __init__(self, width, out, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.normal(0.0, width**-0.5, (out, width)).astype(np.float32)
        self.bias = np.zeros(out)

    def forward(self, x):
        self.x, self.q = x, project(self.weight)
        return x @ self.q.T + self.bias

    def backward(self, dy):
        self.dweight = dy.T @ self.x
        self.dbias = dy.sum(axis=0)
        return dy @ self.q


class AdamW:
    def __init__(self, lr, betas=(0.9, 0.99), decay=0.01):
        self.lr, self.betas, self.decay, self.t, self.state = lr, betas, decay, 0, {}

    def step(self, layers):
        self.t += 1
        b1, b2 = self.betas
        for i, layer in enumerate(layers):
            for name in ("weight", "bias"):
                value, g = getattr(layer, name), getattr(layer, "d" + name)
                m, v = self.state.get((i, name), (0.0, 0.0))
                m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
                self.state[i, name] = m, v
                up = m / (1 - b1**self.t) / (np.sqrt(v / (1 - b2**self.t)) + 1e-8)
                value -= self.lr * (up + self.decay * value)
