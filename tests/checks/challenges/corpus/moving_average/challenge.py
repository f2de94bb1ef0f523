"""Moving average of values (n,) over the last `window` of them; at the beginning over those that there are.

With its gradient with respect to values.
"""

import numpy as np

ALIASES = {"values": ["x", "data"], "window": ["w", "k", "size"]}
GRADIENTS = ["values"]


def reference(values, window):
    if window < 1:
        raise ValueError("a window holds something")
    return np.array([values[max(0, i + 1 - window) : i + 1].mean() for i in range(len(values))], dtype=values.dtype)


def inputs(rng, n, window):
    return {"values": 1.0 + rng.standard_normal(n), "window": window}


CASES = [dict(n=7, window=3), dict(n=4, window=9), dict(n=1, window=1), dict(n=300, window=25)]


def edge_cases(rng):
    yield "window of one", {"values": rng.standard_normal(6), "window": 1}
    yield "window of all", {"values": rng.standard_normal(6), "window": 6}
    yield "large and small", {"values": np.array([1e9, 1.0, 1.0, 1.0, 1.0, 2.0]), "window": 2}


def error_cases(rng):
    yield "no window", {"values": np.ones(3), "window": 0}, ValueError
