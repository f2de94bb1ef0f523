from . import moments
from .moments import moments as _moments


class LayerNorm:
    """Keeps nothing between calls: the cache goes through the caller."""

    def __init__(self, eps: float = 1e-5):
        self.eps = eps

    def forward(self, x, gamma, beta):
        mean, rstd = _moments(x, self.eps)
        assert moments.moments is _moments
        xhat = (x - mean) * rstd
        return xhat * gamma + beta, (xhat, rstd, gamma)

    def backward(self, dy, cache):
        xhat, rstd, gamma = cache
        g = dy * gamma
        dx = (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True)) * rstd
        return dx, (dy * xhat).sum(axis=(0, 1)), dy.sum(axis=(0, 1))
