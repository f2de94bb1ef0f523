# style: keeps the input and two moments per row; class methods, keyword-only epsilon, a dict of gradients
# warns: cache_minimality (an axis that is never read)
"""LayerNorm as an autograd-style Function pair, for stacks of any rank.

Saved for backward: the *input* and two statistics per row (mu, inv_sigma). Storing x rather than x_hat is
free (x is alive anyway as the previous layer's output), and x_hat is rebuilt in one fused expression.
"""
from dataclasses import dataclass, field
import numpy as np


@dataclass
class SavedTensors:
    inp: np.ndarray
    mu: np.ndarray
    inv_sigma: np.ndarray
    weight: np.ndarray
    normalized_axis: int = field(default=-1)


class LayerNorm:
    """Stateless: parameters are passed in by the caller, as in a functional framework."""

    @staticmethod
    def _moments(inp):
        mu = np.add.reduce(inp, axis=-1, keepdims=True) / inp.shape[-1]
        dev = inp - mu
        # a second correction of the mean (compensated two-pass algorithm, Chan et al.)
        corr = np.add.reduce(dev, axis=-1, keepdims=True) / inp.shape[-1]
        mu = mu + corr
        dev -= corr
        sigma2 = np.add.reduce(np.square(dev), axis=-1, keepdims=True) / inp.shape[-1]
        return mu, sigma2

    @classmethod
    def forward(cls, inp, weight, bias, *, epsilon=1e-5):
        mu, sigma2 = cls._moments(inp)
        inv_sigma = np.reciprocal(np.sqrt(sigma2 + epsilon))
        out = (inp - mu) * inv_sigma * weight + bias
        return out, SavedTensors(inp, mu, inv_sigma, weight)

    @classmethod
    def backward(cls, grad_output, saved):
        n = saved.inp.shape[-1]
        lead = tuple(range(grad_output.ndim - 1))
        x_hat = (saved.inp - saved.mu) * saved.inv_sigma
        grad_weight = (grad_output * x_hat).sum(axis=lead)
        grad_bias = grad_output.sum(axis=lead)
        gw = grad_output * saved.weight
        s1 = gw.sum(-1, keepdims=True)
        s2 = (gw * x_hat).sum(-1, keepdims=True)
        grad_input = (saved.inv_sigma / n) * (n * gw - s1 - x_hat * s2)
        return {"input": grad_input, "weight": grad_weight, "bias": grad_bias}
