# right: a package below src/ that imports itself by its own name
# only: forward_accuracy, gradients, cache_minimality
import rownorm.moments as moments


def forward(x, gamma, beta, eps=1e-5):
    white, scale = moments.whitened(x, eps)
    return white * gamma + beta, (white, scale, gamma)


def backward(dy, cache):
    white, scale, gamma = cache
    g = dy * gamma
    along = (g * white).mean(axis=-1, keepdims=True)
    dx = scale * (g - g.mean(axis=-1, keepdims=True) - white * along)
    rows = tuple(range(dy.ndim - 1))
    return dx, (dy * white).sum(axis=rows), dy.sum(axis=rows)
