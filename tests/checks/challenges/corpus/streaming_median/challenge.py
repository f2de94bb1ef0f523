"""Medians after each of the values."""

import numpy as np

NAMES = ["running_medians"]


def reference(values):
    return np.array([np.median(values[: i + 1]) for i in range(len(values))], dtype=values.dtype)


def inputs(rng, count):
    return {"values": rng.integers(-20, 20, count) + rng.choice([0.0, 0.25], count)}


CASES = [dict(count=1), dict(count=2), dict(count=9), dict(count=60)]


def edge_cases(rng):
    yield "none", {"values": np.array([])}
    yield "all the same", {"values": np.full(5, 3.5)}
    yield "falling", {"values": np.arange(7.0)[::-1]}
    yield "far apart", {"values": np.array([-1e12, 1e12, 3.0, 4.0])}
