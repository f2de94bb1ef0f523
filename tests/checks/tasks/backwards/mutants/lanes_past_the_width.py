# bug: the lanes past the width are centred as well, so that each of them adds mean² to the variance
# caught by: forward_accuracy, gradients, gradient_identities, degenerate, cancellation
import numpy as np


def lanes_for(width):
    lanes = 1
    while lanes < width:
        lanes *= 2
    return lanes


def norm_forward(x, weight, bias, eps=1e-5):
    width = x.shape[-1]
    lanes = lanes_for(width)
    wide = np.zeros((*x.shape[:-1], lanes), x.dtype)
    wide[..., :width] = x
    centred = wide - wide.sum(-1, keepdims=True) / width
    inverse = 1 / np.sqrt((centred * centred).sum(-1, keepdims=True) / width + eps)
    hat = (centred * inverse)[..., :width]
    return hat * weight + bias, (hat, inverse, weight)


def norm_backward(dy, cache):
    hat, inverse, weight = cache
    g = dy * weight
    ahead = g.sum(-1, keepdims=True) + hat * (g * hat).sum(-1, keepdims=True)
    return inverse * (g - ahead / g.shape[-1]), (dy * hat).sum((0, 1)), dy.sum((0, 1))
