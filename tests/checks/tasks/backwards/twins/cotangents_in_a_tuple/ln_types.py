"""Plain value types shared by the layer-norm functions."""

from typing import NamedTuple

import numpy as np


class LNParams(NamedTuple):
    """Learnable parameters plus the one hyper-parameter."""

    gamma: np.ndarray      # (D,)
    beta: np.ndarray       # (D,)
    eps: float = 1e-5


class LNResidual(NamedTuple):
    """What the backward pass cannot get from its other arguments.

    ``gamma`` is deliberately absent: the caller owns the parameters and hands
    them to the backward pass again, so there is no reason to hold them twice.
    """

    x_hat: np.ndarray      # (B, T, D)
    inv_std: np.ndarray    # (B, T)


class LNParamGrads(NamedTuple):
    """Gradients of the learnable parameters, same order as in LNParams."""

    gamma: np.ndarray      # (D,)
    beta: np.ndarray       # (D,)


def init_params(dim: int, eps: float = 1e-5, dtype=np.float32) -> LNParams:
    """The usual identity initialisation."""
    return LNParams(np.ones(dim, dtype), np.zeros(dim, dtype), eps)
