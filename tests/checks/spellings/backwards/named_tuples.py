from collections import namedtuple

import numpy as np

Normed = namedtuple("Normed", "out saved")
Saved = namedtuple("Saved", ["xhat", "inv_std", "g"])
Gradients = namedtuple("Gradients", "d_beta d_gamma d_x")


def ln_fwd(inp, g, b, epsilon=1e-5):
    centred = inp - inp.mean(axis=-1, keepdims=True)
    inv_std = 1.0 / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + epsilon)
    xhat = centred * inv_std
    return Normed(out=xhat * g + b, saved=Saved(xhat, inv_std, g))


def ln_bwd(saved, dout):
    g = dout * saved.g
    inner = g - g.mean(-1, keepdims=True) - saved.xhat * (g * saved.xhat).mean(-1, keepdims=True)
    return Gradients(dout.sum(axis=(0, 1)), np.einsum("btd,btd->d", dout, saved.xhat), inner * saved.inv_std)
