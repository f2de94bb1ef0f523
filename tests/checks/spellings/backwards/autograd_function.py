"""As an autograd function: static methods, the context first, tensors saved on it."""
import numpy as np


class LayerNormFunction:
    @staticmethod
    def forward(ctx, x, weight, bias, eps=1e-5):
        mean = x.mean(-1, keepdims=True)
        rstd = (((x - mean) ** 2).mean(-1, keepdims=True) + eps) ** -0.5
        xhat = (x - mean) * rstd
        ctx.save_for_backward(xhat, rstd, weight)
        return xhat * weight + bias

    @staticmethod
    def backward(ctx, grad_output):
        xhat, rstd, weight = ctx.saved_tensors
        axes = tuple(range(grad_output.ndim - 1))
        grad_weight = (grad_output * xhat).sum(axis=axes)
        grad_bias = grad_output.sum(axis=axes)
        g = grad_output * weight
        c1 = (xhat * g).mean(-1, keepdims=True)
        c2 = g.mean(-1, keepdims=True)
        grad_input = (g - xhat * c1 - c2) * rstd
        return grad_input, grad_weight, grad_bias, None
