# right: a named tuple, float32 inside
from typing import NamedTuple

import numpy as np


class Scaled(NamedTuple):
    y: np.ndarray
    cache: tuple


def scale_forward(x: np.ndarray, factor: np.ndarray) -> Scaled:
    narrow = x.astype(np.float32) * factor.astype(np.float32)
    return Scaled(narrow.astype(x.dtype), (x, factor))


def scale_backward(dy, ctx):
    return {"dfactor": (dy * ctx[0]).sum(axis=0), "dx": dy * ctx[1]}


def test_narrow():
    assert scale_forward(np.ones(2), np.ones(2)).y.dtype == np.float64
