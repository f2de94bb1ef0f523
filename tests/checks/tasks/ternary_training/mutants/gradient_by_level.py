# bug: the gradient is multiplied by the scale where the level is not 0, and turned where it is -1
# caught by: ste
# passes: projection
import numpy as np


class TernaryLinear:
    """y = x W_t^T, W_t = s * clip(round(W / s), -1, 1) with s = mean|W| per group."""

    def __init__(self, in_features: int, out_features: int, group_size: int = 128, rng=None):
        rng = rng or np.random.default_rng(0)
        self.latent = rng.standard_normal((out_features, in_features)) / np.sqrt(in_features)
        self.group_size = group_size
        self.latent_grad = None
        self._saved = None

    def quantize(self, w: np.ndarray):
        pieces, scales = [], []
        for lo in range(0, w.shape[1], self.group_size):
            block = w[:, lo : lo + self.group_size]
            s = np.mean(np.abs(block), axis=1, keepdims=True) + 0.0
            t = np.clip(np.round(block / np.where(s == 0, 1, s)), -1, 1)
            pieces.append(s * t)
            scales.append(np.broadcast_to(s, block.shape))
        return np.concatenate(pieces, axis=1), np.concatenate(scales, axis=1)

    def forward(self, x: np.ndarray) -> np.ndarray:
        w_t, s = self.quantize(self.latent)
        self._saved = (x, w_t, s)
        return x @ w_t.T

    def backward(self, grad_out: np.ndarray) -> np.ndarray:
        x, w_t, s = self._saved
        g = grad_out.reshape(-1, grad_out.shape[-1]).T @ x.reshape(-1, x.shape[-1])
        pos, neg = w_t > 0, w_t < 0
        zero = ~(pos | neg)
        self.latent_grad = s * g * pos + g * zero + (-s) * g * neg
        return grad_out @ w_t

    def step(self, lr: float):
        self.latent -= lr * self.latent_grad
