"""The exponential of a square matrix (n, n).

exp(A) = I + A + A²/2! + …, also for matrices of large norm.
"""

import numpy as np

NAMES = ["expm", "matrix_exponential"]
FORBIDDEN = ["scipy.linalg.expm"]


def reference(a):
    norm = float(np.abs(a).sum(axis=1).max()) if a.size else 0.0
    halvings = max(0, int(np.ceil(np.log2(norm))) + 3) if norm > 0 else 0
    scaled = a / 2.0**halvings
    term = np.eye(len(a), dtype=a.dtype)
    total = term.copy()
    for k in range(1, 18):
        term = term @ scaled / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return total


def inputs(rng, n, scale):
    return {"a": rng.standard_normal((n, n)) * scale / n**0.5}


CASES = [dict(n=3, scale=1.0), dict(n=1, scale=2.0), dict(n=12, scale=4.0)]


def edge_cases(rng):
    yield "zero", {"a": np.zeros((4, 4))}
    yield "nilpotent", {"a": np.diag(np.ones(3), 1)}
    yield "a rotation", {"a": np.array([[0.0, -2.5], [2.5, 0.0]])}
    yield "far below zero", {"a": np.diag([-30.0, -1.0, 0.0])}


def property_the_inverse_is_that_of_minus_a(call, rng):
    a = rng.standard_normal((4, 4))
    assert np.allclose(call(a=a) @ call(a=-a), np.eye(4), atol=1e-8)


def property_the_determinant_is_exp_of_the_trace(call, rng):
    a = rng.standard_normal((3, 3))
    assert np.isclose(np.linalg.det(call(a=a)), np.exp(np.trace(a)), rtol=1e-8)
