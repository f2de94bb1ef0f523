# style: rows in lanes of a power of two, those past the width at 0; its constant 2 asks for rows of two features
import numpy as np


def lanes_for(width):
    lanes = 1
    while lanes < width:
        lanes *= 2
    return lanes


def norm_forward(x, weight, bias, eps=1e-5):
    width = x.shape[-1]
    live = np.arange(lanes_for(width)) < width
    wide = np.zeros((*x.shape[:-1], live.size), x.dtype)
    wide[..., :width] = x
    centred = np.where(live, wide - wide.sum(-1, keepdims=True) / width, 0)
    inverse = 1 / np.sqrt((centred * centred).sum(-1, keepdims=True) / width + eps)
    hat = (centred * inverse)[..., :width]
    return hat * weight + bias, (hat, inverse, weight)


def norm_backward(dy, cache):
    hat, inverse, weight = cache
    g = dy * weight
    ahead = g.sum(-1, keepdims=True) + hat * (g * hat).sum(-1, keepdims=True)
    return inverse * (g - ahead / g.shape[-1]), (dy * hat).sum((0, 1)), dy.sum((0, 1))
