"""Which keys a query sees, and how sequences are cut."""
import numpy as np

FINITE_MINIMUM = -1e30


def cuts(length, size):
    return [(a, min(a + size, length)) for a in range(0, length, size)]


def visible(rows, cols, causal):
    if not causal:
        return None
    return np.arange(*rows)[:, None] >= np.arange(*cols)[None, :]
