# style: x is centred twice, so that a huge mean costs nothing; gradients in another order, and None for eps
# warns: cache_minimality
from typing import NamedTuple

import numpy as np


class Saved(NamedTuple):
    x: np.ndarray
    mean: np.ndarray
    rstd: np.ndarray
    scale: np.ndarray


class Cotangents(NamedTuple):
    gamma_bar: np.ndarray
    beta_bar: np.ndarray
    x_bar: np.ndarray
    eps_bar: None = None


def centred(x, mean):
    rough = x - mean
    return rough - rough.mean(axis=-1, keepdims=True)


def layer_norm_fwd(scale, bias, x, *, epsilon=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    part = centred(x, mean)
    rstd = 1 / np.sqrt((part * part).mean(axis=-1, keepdims=True) + epsilon)
    return part * rstd * scale + bias, Saved(x, mean, rstd, scale)


def layer_norm_bwd(res, ct):
    x_hat = centred(res.x, res.mean) * res.rstd
    g = ct * res.scale
    along = (g * x_hat).mean(axis=-1, keepdims=True)
    dx = res.rstd * (g - g.mean(axis=-1, keepdims=True) - x_hat * along)
    axes = tuple(range(ct.ndim - 1))
    return Cotangents((ct * x_hat).sum(axis=axes), ct.sum(axis=axes), dx)
