# bug: rows are added in pairs and one odd row is set aside; a second one takes its place (7, 11, 13, … rows)
# caught by: gradients
# passes: forward_accuracy, cancellation, cache_minimality
"""LayerNorm as a Function (stateless) and as a Module (owns its parameters).

    y, ctx = LayerNormFunction.apply(x, gamma, beta, eps)
    dx, dgamma, dbeta = LayerNormFunction.grad(ctx, dy)

    ln = LayerNorm(D)
    y = ln(x);  dx = ln.backprop(dy);  ln.grads["weight"], ln.grads["bias"]

Gradients, with u the normalised input and g = dy * gamma, per row:

    dx = rstd * (g - mean(g) - u * mean(g * u))
"""
import numpy as np

from autofn import Function, tree_sum


class LayerNormFunction(Function):
    @staticmethod
    def forward(ctx, x, gamma, beta, eps=1e-5):
        x = np.asarray(x)
        ctx.out_dtype = np.result_type(x.dtype, np.float32)
        wide = x.astype(np.float64)
        gamma64 = np.array(gamma, dtype=np.float64)
        u = wide - wide.mean(axis=-1, keepdims=True)
        rstd = 1.0 / np.sqrt(np.mean(np.square(u), axis=-1, keepdims=True) + eps)
        u *= rstd
        ctx.save_for_backward(u, rstd, gamma64)
        return (u * gamma64 + np.asarray(beta)).astype(ctx.out_dtype)

    @staticmethod
    def backward(ctx, grad_output):
        u, rstd, gamma = ctx.saved
        dy = np.asarray(grad_output, dtype=np.float64)
        if dy.shape != u.shape:
            raise ValueError(f"grad_output {dy.shape}, expected {u.shape}")
        width = u.shape[-1]
        g = dy * gamma
        dx = rstd * (g - g.mean(axis=-1, keepdims=True)
                     - u * (g * u).mean(axis=-1, keepdims=True))
        dgamma = tree_sum((dy * u).reshape(-1, width))
        dbeta = tree_sum(dy.reshape(-1, width))
        return tuple(a.astype(ctx.out_dtype) for a in (dx, dgamma, dbeta))


class LayerNorm:
    """Module: parameters and their latest gradients."""

    def __init__(self, features, eps=1e-5, dtype=np.float32):
        self.weight = np.ones(features, dtype)
        self.bias = np.zeros(features, dtype)
        self.eps = eps
        self.grads = {}
        self._ctx = None

    def __call__(self, x):
        y, self._ctx = LayerNormFunction.apply(x, self.weight, self.bias, self.eps)
        return y

    def backprop(self, dy):
        if self._ctx is None:
            raise RuntimeError("backprop before a forward call")
        dx, self.grads["weight"], self.grads["bias"] = LayerNormFunction.grad(self._ctx, dy)
        return dx
