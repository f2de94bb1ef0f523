"""Numerical gradient check by directional derivatives."""
import numpy as np
from norm import LayerNorm


def directional(param, rng, inputs, upstream, h=1e-6):
    direction = rng.choice([-1.0, 1.0], size=inputs[param].shape)
    plus, minus = dict(inputs), dict(inputs)
    plus[param] = inputs[param] + h * direction
    minus[param] = inputs[param] - h * direction
    f = lambda kw: float((LayerNorm.forward(kw["inp"], kw["weight"], kw["bias"])[0] * upstream).sum())
    return (f(plus) - f(minus)) / (2 * h), direction


def check(shape=(2, 5, 12), trials=8, seed=0):
    rng = np.random.default_rng(seed)
    inputs = dict(inp=rng.normal(size=shape), weight=rng.normal(size=shape[-1]), bias=rng.normal(size=shape[-1]))
    upstream = rng.normal(size=shape)
    out, saved = LayerNorm.forward(**inputs)
    grads = LayerNorm.backward(upstream, saved)
    names = {"inp": "input", "weight": "weight", "bias": "bias"}
    worst = {}
    for p, g in names.items():
        errs = []
        for _ in range(trials):
            num, d = directional(p, rng, inputs, upstream)
            ana = float((grads[g] * d).sum())
            errs.append(abs(num - ana) / max(abs(num), abs(ana), 1e-12))
        worst[g] = max(errs)
    return worst


if __name__ == "__main__":
    for k, v in check().items():
        print(k, v)
        assert v < 1e-6
