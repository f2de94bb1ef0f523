# bug: codes are packed in four layers of 32 and unpacked byte by byte
# caught by: projection
# only: projection, ste
import numpy as np

GROUP = 128


def pack(codes):
    """Codes (out, groups, 128) in four layers of 32, two bits each: bytes (out, groups, 32)."""
    layers = (codes + 1).astype(np.uint8).reshape(*codes.shape[:2], 4, 32)
    return sum(layers[:, :, at] << 2 * at for at in range(4))


def unpack(packed):
    layers = [packed >> 2 * at & 3 for at in range(4)]
    return np.stack(layers, axis=-1).reshape(*packed.shape[:2], GROUP).astype(np.float64) - 1.0


def project(w):
    out, width = w.shape
    padded = np.zeros((out, -(-width // GROUP) * GROUP))
    padded[:, :width] = w
    groups = padded.reshape(out, -1, GROUP)
    counts = np.minimum(GROUP, width - GROUP * np.arange(groups.shape[1]))
    s = np.abs(groups).sum(axis=2) / counts
    codes = np.clip(np.round(groups / np.where(s > 0, s, 1.0)[..., None]), -1, 1)
    return (unpack(pack(codes)) * s[..., None]).reshape(out, -1)[:, :width]


class Ternary:
    """y = x Q^T + b with Q the projection of the latent weights, group by group along a row."""

    def __init__(self, width, out, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.normal(0.0, width**-0.5, (out, width))
        self.bias = np.zeros(out)

    def forward(self, x):
        self.x, self.q = x, project(self.weight)
        return x @ self.q.T + self.bias

    def backward(self, dy):
        self.dweight = dy.T @ self.x
        self.dbias = dy.sum(axis=0)
        return dy @ self.q

    def step(self, lr):
        self.weight -= lr * self.dweight
        self.bias -= lr * self.dbias
