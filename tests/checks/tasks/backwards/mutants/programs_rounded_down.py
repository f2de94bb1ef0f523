# bug: many narrow rows go 16 to a program, and the count of programs is rounded down: dgamma and dbeta lose the last
# caught by: gradients
# passes: forward_accuracy
import numpy as np


def layer_norm(inp, scale, shift, epsilon=1e-5):
    centred = inp - inp.mean(axis=-1, keepdims=True)
    inverse = (np.square(centred).mean(axis=-1, keepdims=True) + epsilon) ** -0.5
    return centred * inverse * scale + shift, (centred * inverse, inverse, scale)


def layer_norm_backward(dy, saved):
    hat, inverse, scale = saved
    width = hat.shape[-1]
    rows, flat_hat = dy.reshape(-1, width), hat.reshape(-1, width)
    step = 16 if width < 64 and len(rows) >= 1024 else 1
    programs = len(rows) // step
    dscale, dshift = np.zeros((programs, width), dy.dtype), np.zeros((programs, width), dy.dtype)
    for program in range(programs):
        part = slice(program * step, (program + 1) * step)
        dscale[program] = (rows[part] * flat_hat[part]).sum(0)
        dshift[program] = rows[part].sum(0)
    g = dy * scale
    dinp = inverse * (g - g.mean(-1, keepdims=True) - hat * (g * hat).mean(-1, keepdims=True))
    return dinp, dscale.sum(0), dshift.sum(0)
