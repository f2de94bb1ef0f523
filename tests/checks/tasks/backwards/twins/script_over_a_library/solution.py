# right: a script at the root over a package that lies in a folder of its own
# only: forward_accuracy, gradients
from tinynorm import moments


def layernorm_forward(x, gamma, beta, eps):
    white, scale = moments(x, eps)
    return gamma * white + beta, {"white": white, "scale": scale, "gamma": gamma}


def layernorm_backward(dout, cache):
    white, scale, g = cache["white"], cache["scale"], dout * cache["gamma"]
    d = g.shape[-1]
    dx = scale / d * (d * g - g.sum(-1, keepdims=True) - white * (g * white).sum(-1, keepdims=True))
    return dx, (dout * white).sum((0, 1)), dout.sum((0, 1))
