"""The k largest of each row, ties by index."""

from collections import namedtuple

import numpy as np

Top = namedtuple("Top", "values indices")
ALIASES = {"scores": ["logits", "x"]}


def reference(scores, k):
    if k > scores.shape[1]:
        raise ValueError("k is larger than a row")
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return Top(np.take_along_axis(scores, order, 1), order)


def inputs(rng, rows, items, k):
    return {"scores": rng.integers(0, max(2, items // 3), (rows, items)) / 2.0, "k": min(k, items)}


CASES = [dict(rows=3, items=8, k=3), dict(rows=1, items=1, k=1), dict(rows=2, items=50, k=20)]


def edge_cases(rng):
    yield "all equal", {"scores": np.ones((2, 6)), "k": 4}
    yield "all of them", {"scores": rng.integers(0, 3, (2, 5)).astype(float), "k": 5}
    yield "none of them", {"scores": np.ones((2, 3)), "k": 0}
    yield "below zero and infinite", {"scores": np.array([[-1.0, -np.inf, -2.0, -np.inf]]), "k": 3}


def error_cases(rng):
    yield "more than there are", {"scores": np.ones((1, 3)), "k": 4}, ValueError


def property_values_are_at_the_indices(call, rng):
    scores = rng.integers(0, 4, (3, 9)).astype(float)
    values, indices = call(scores=scores, k=5)
    assert (np.take_along_axis(scores, np.asarray(indices), 1) == values).all(), "values are not those at the indices"
