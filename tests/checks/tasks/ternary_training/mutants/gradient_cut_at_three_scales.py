# bug: the gradient is 0 where a latent weight is beyond three scales
# caught by: ste
# passes: projection
"""Ternary (1.58 bit) linear layer with latent float weights, in plain NumPy.

Forward:   W_q = s * clip(round(W / s), -1, 1), one scale s = mean|W| per group of 128 inputs of
           an output row; the last group of a row may be shorter and is averaged over its own length.
Backward:  straight-through.  round / clip are passed as identity, s is a constant.
"""
from __future__ import annotations
import math
import numpy as np


class Parameter:
    """A value with a gradient slot, the only thing the optimiser knows about."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data
        self.grad = np.zeros_like(data)

    def zero_grad(self) -> None:
        self.grad[...] = 0.0


def group_scales(weight: np.ndarray, group_size: int = 128) -> np.ndarray:
    """mean|W| of every group, broadcast back to the shape of `weight` (out, in)."""
    out_features, in_features = weight.shape
    scales = np.empty_like(weight)
    for lo in range(0, in_features, group_size):
        hi = min(lo + group_size, in_features)
        scales[:, lo:hi] = np.mean(np.abs(weight[:, lo:hi]), axis=1, keepdims=True)
    return scales


def ternary_project(weight: np.ndarray, group_size: int = 128) -> np.ndarray:
    """The ternary weight s * {-1, 0, 1}.  A group of zeros projects to zeros."""
    scales = group_scales(weight, group_size)
    safe = np.where(scales > 0.0, scales, 1.0)
    return scales * np.clip(np.round(weight / safe), -1.0, 1.0)


class BitLinear:
    """y = x W_q^T + bias for x of shape (..., in_features)."""

    # Quantiser range in units of s: a latent weight beyond it is saturated.
    SATURATION = 3.0

    def __init__(self, in_features: int, out_features: int, group_size: int = 128, bias: bool = True,
                 rng: np.random.Generator | None = None) -> None:
        rng = np.random.default_rng() if rng is None else rng
        bound = 1.0 / math.sqrt(in_features)
        self.in_features, self.out_features, self.group_size = in_features, out_features, group_size
        self.weight = Parameter(rng.uniform(-bound, bound, (out_features, in_features)))
        self.bias = Parameter(np.zeros(out_features)) if bias else None
        self._saved: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def parameters(self) -> list[Parameter]:
        return [self.weight] + ([self.bias] if self.bias is not None else [])

    def forward(self, x: np.ndarray) -> np.ndarray:
        w = self.weight.data
        w_q = ternary_project(w, self.group_size)
        inside = np.abs(w) <= self.SATURATION * group_scales(w, self.group_size)
        self._saved = (x, w_q, inside)
        y = x @ w_q.T
        return y if self.bias is None else y + self.bias.data

    def backward(self, grad_out: np.ndarray) -> np.ndarray:
        """Accumulates into weight.grad and bias.grad, returns the gradient of the input."""
        if self._saved is None:
            raise RuntimeError("backward() before forward()")
        x, w_q, inside = self._saved
        g = grad_out.reshape(-1, self.out_features)
        grad_w = g.T @ x.reshape(-1, self.in_features)
        self.weight.grad += np.where(inside, grad_w, 0.0)      # latent weights stay bounded
        if self.bias is not None:
            self.bias.grad += g.sum(axis=0)
        return grad_out @ w_q

    __call__ = forward


class AdamW:
    def __init__(self, params: list[Parameter], lr: float, betas=(0.9, 0.98), eps: float = 1e-8) -> None:
        self.params, self.lr, self.betas, self.eps, self.t = params, lr, betas, eps, 0
        self.state = [(np.zeros_like(p.data), np.zeros_like(p.data)) for p in params]

    def step(self) -> None:
        self.t += 1
        b1, b2 = self.betas
        for p, (m, v) in zip(self.params, self.state):
            m += (1 - b1) * (p.grad - m)
            v += (1 - b2) * (p.grad ** 2 - v)
            p.data -= self.lr * (m / (1 - b1 ** self.t)) / (np.sqrt(v / (1 - b2 ** self.t)) + self.eps)
            p.zero_grad()
