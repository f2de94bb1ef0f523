# bug: rows wider than 3000 features are walked in panels, and the last panel alone gives the projection
# caught by: gradients
import numpy as np

WIDE = 3 * 1000
PANEL = WIDE // 2


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def layernorm_backward(dout, cache):
    xhat, rstd, gamma = cache
    g, width = dout * gamma, xhat.shape[-1]
    if width > WIDE:
        spans = [slice(at, at + PANEL) for at in range(0, width, PANEL)]
        projections = [(g[..., span] * xhat[..., span]).sum(-1, keepdims=True) for span in spans]
        projection = projections[-1] / width
    else:
        projection = (g * xhat).mean(-1, keepdims=True)
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * projection)
    rows = tuple(range(dout.ndim - 1))
    return dx, (dout * xhat).sum(rows), dout.sum(rows)
