"""A decorator that forgets the signature stands before both."""
import time

import numpy as np

SECONDS = {}


def timed(function):
    def run(*args, **kwargs):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        SECONDS[function.__name__] = time.perf_counter() - start
        return result

    return run


@timed
def layernorm_fwd(gamma, beta, x, eps=1e-5):
    mu, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    xn = (x - mu) * rstd
    return xn * gamma + beta, [xn, rstd, gamma]


@timed
def layernorm_bwd(cache, dy):
    xn, rstd, gamma = cache
    g = dy * gamma
    db = np.add.reduce(dy, axis=(0, 1))
    dg = np.add.reduce(dy * xn, axis=(0, 1))
    dx = rstd * (g - g.mean(-1, keepdims=True) - xn * (g * xn).mean(-1, keepdims=True))
    return dg, db, dx
