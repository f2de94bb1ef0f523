"""Cosine similarity between the rows of two matrices."""

import numpy as np


def unit_rows(x):
    """Rows of length one; rows of zeros stay as they are."""
    length = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return x / np.where(length == 0, 1, length)


def cosine(a, b):
    """The cosine of every row of a (N, D) with every row of b (M, D)."""
    return unit_rows(a) @ unit_rows(b).T
