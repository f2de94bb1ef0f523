"""Softmax over the last axis of scores (rows, columns), with a temperature; large scores are no trouble.

Rows of which every score is -inf give zeros.
"""

import numpy as np

ALIASES = {"scores": ["x", "logits", "z"], "temperature": ["t", "temp", "tau"]}
BENCH = [dict(rows=64, columns=512)]


def reference(scores, temperature=1.0):
    scaled = scores / temperature
    largest = scaled.max(axis=-1, keepdims=True)
    weights = np.exp(scaled - np.where(np.isfinite(largest), largest, 0.0))
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 0.0)


def inputs(rng, rows, columns):
    return {"scores": 4.0 * rng.standard_normal((rows, columns)), "temperature": float(rng.uniform(0.5, 3.0))}


CASES = [dict(rows=3, columns=7), dict(rows=1, columns=1), dict(rows=2, columns=3000)]


def edge_cases(rng):
    yield "large", {"scores": np.array([[1000.0, 999.0, -1000.0]])}
    yield "far below zero", {"scores": np.array([[-1000.0, -1001.0]])}
    yield "masked", {"scores": np.array([[0.0, -np.inf, 1.0]])}
    yield "all masked", {"scores": np.full((2, 3), -np.inf)}
    yield "equal", {"scores": np.full((1, 4), 7.0)}
    yield "cold", {"scores": np.array([[1.0, 2.0, 3.0]]), "temperature": 0.001}


def property_rows_sum_to_one(call, rng):
    out = call(scores=50 * rng.standard_normal((4, 9)))
    assert np.allclose(out.sum(-1), 1.0), "rows do not sum to one"


def property_a_shift_changes_nothing(call, rng):
    scores = rng.standard_normal((2, 5))
    assert np.allclose(call(scores=scores), call(scores=scores + 300.0), atol=1e-9)
