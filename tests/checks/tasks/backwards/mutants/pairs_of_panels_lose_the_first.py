# bug: rows of more panels than one pass takes, and of no more than two do, get the second sum along x̂ alone
# caught by: gradients
# passes: forward_accuracy, degenerate
import numpy as np

PANEL = 24
AT_ONCE = 11


def forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    scale = 1.0 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    return centred * scale * gamma + beta, {"normal": centred * scale, "scale": scale, "gamma": gamma}


def sums(g, normal):
    return g.sum(-1, keepdims=True), (g * normal).sum(-1, keepdims=True)


def in_passes(g, normal, panels):
    passes = -(-panels // AT_ONCE)
    total, along = np.zeros_like(g[..., :1]), np.zeros_like(g[..., :1])
    for number in range(passes):
        here = slice(number * AT_ONCE * PANEL, (number + 1) * AT_ONCE * PANEL)
        one, other = sums(g[..., here], normal[..., here])
        if passes == 2:
            total, along = total + one, other
        else:
            total, along = total + one, along + other
    return total, along


def backward(dy, cache):
    normal, scale = cache["normal"], cache["scale"]
    g, width = dy * cache["gamma"], dy.shape[-1]
    panels = (width + PANEL - 1) // PANEL
    total, along = sums(g, normal) if panels <= AT_ONCE else in_passes(g, normal, panels)
    dx = scale * (g - total / width - normal * (along / width))
    return dx, (dy * normal).sum((0, 1)), dy.sum((0, 1))
