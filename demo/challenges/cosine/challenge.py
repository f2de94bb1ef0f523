"""Cosine similarity of every row of a (N, D) with every row of b (M, D)."""

import numpy as np

NAMES = ["cosine", "cosine_similarity"]


def reference(a, b):
    lengths = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
    return np.divide(a @ b.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def inputs(rng, rows, others, width):
    return {"a": rng.standard_normal((rows, width)), "b": 3 * rng.standard_normal((others, width))}


CASES = [dict(rows=4, others=3, width=5), dict(rows=1, others=1, width=2), dict(rows=40, others=30, width=64)]


def edge_cases(rng):
    a, b = rng.standard_normal((3, 4)), rng.standard_normal((2, 4))
    a[1] = 0
    yield "a row of zeros", {"a": a, "b": b}
    yield "a row against itself", {"a": b, "b": b}


def property_length_does_not_count(call, rng):
    """Rows of any length have the same angles."""
    a, b = rng.standard_normal((3, 6)), rng.standard_normal((4, 6))
    assert np.allclose(call(a=a, b=b), call(a=a * 1e-6, b=b * 1e6), rtol=1e-9), "a factor changes the answer"
