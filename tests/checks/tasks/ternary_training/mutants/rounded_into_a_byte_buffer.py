# bug: weights are rounded into a buffer of bytes, which wraps where a weight is 128 scales, and then clipped
# caught by: projection
# passes: ste
import numpy as np


class TernaryDense:
    def __init__(self, fan_in, fan_out, seed=0, group_size=128):
        self.latent = np.random.default_rng(seed).normal(0.0, fan_in**-0.5, (fan_out, fan_in))
        self.group_size = group_size
        self.dlatent = None

    def quantized(self):
        rows, width = self.latent.shape
        padded = -width % self.group_size
        grouped = np.pad(self.latent, ((0, 0), (0, padded))).reshape(rows, -1, self.group_size)
        counts = np.full(grouped.shape[1], float(self.group_size))
        counts[-1] -= padded
        scale = (np.abs(grouped).sum(axis=2) / counts)[..., None]
        buffer = np.empty(grouped.shape, dtype=np.int8)
        with np.errstate(invalid="ignore"):
            np.copyto(
                buffer,
                np.round(np.divide(grouped, scale, where=scale > 0, out=np.zeros_like(grouped))),
                casting="unsafe",
            )
        buffer[buffer > 1] = 1
        buffer[buffer < -1] = -1
        return (buffer * scale).reshape(rows, -1)[:, :width]

    def forward(self, x):
        self.x, self.used = x, self.quantized()
        return x @ self.used.T

    def backward(self, dy):
        self.dlatent = dy.T @ self.x
        return dy @ self.used
