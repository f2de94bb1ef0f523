# style: W (in, out) is projected where it is set, and an update replaces the arrays, told the gradients by name
# only: projection, ste
import numpy as np


def quantize(W):
    parts = [W[i:i + 128] for i in range(0, len(W), 128)]
    s = [np.mean(np.abs(p), axis=0) for p in parts]
    return np.concatenate([np.clip(np.rint(p / np.where(m > 0, m, 1)), -1, 1) * m for p, m in zip(parts, s)])


class TernaryLayer:
    def __init__(self, W, b):
        self.seen = {}
        self.assign("b", b)
        self.assign("W", W)

    def assign(self, name, value):
        setattr(self, name, value)
        if name == "W":
            self.Wq = quantize(value)

    def forward(self, x):
        return x @ self.Wq + self.b, {"x": x, "Wq": self.Wq}

    def backward(self, dy, cache):
        return {"dx": dy @ cache["Wq"].T, "dW": cache["x"].T @ dy, "db": dy.sum(0)}

    def update(self, grads, lr, beta2=0.95):
        for name in ("W", "b"):
            g = grads[name]
            self.seen[name] = beta2 * self.seen.get(name, 0.0) + (1 - beta2) * g * g
            self.assign(name, getattr(self, name) - lr * g / (np.sqrt(self.seen[name] / (1 - beta2)) + 1e-8))
