import numpy as np
def forward(x, gamma, beta, eps=1e-5):
    mu = x.mean(-1, keepdims=True); rstd = 1/np.sqrt(x.var(-1, keepdims=True)+eps); xhat=(x-mu)*rstd
    return xhat*gamma+beta, (xhat, rstd, gamma)
def backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy*gamma
    dx = rstd*(g-g.mean(-1,keepdims=True)-xhat*(g*xhat).mean(-1,keepdims=True))
    return dx, ((dy*xhat).sum((0,1)), dy.sum((0,1)))
