"""The mask without a tree."""

import numpy as np


def plain_causal_mask(n):
    return np.tril(np.ones((n, n), dtype=bool))
