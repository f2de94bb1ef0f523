"""The attention pattern of a prompt followed by a flattened draft tree."""
import numpy as np


def parent_closure(parents: np.ndarray) -> np.ndarray:
    """closure[i, j] is True when j is i or an ancestor of i."""
    n = len(parents)
    step = np.zeros((n, n), dtype=bool)
    rows = np.flatnonzero(parents >= 0)
    step[rows, parents[rows]] = True
    closure = np.eye(n, dtype=bool)
    while True:
        wider = closure | (closure.astype(int) @ step.astype(int) > 0)
        if np.array_equal(wider, closure):
            return closure
        closure = wider


def build_tree_mask(prompt_len, tree_parents):
    parents = np.asarray(tree_parents, dtype=np.int64).reshape(-1)
    top = np.hstack([np.tri(prompt_len, dtype=bool), np.zeros((prompt_len, len(parents)), dtype=bool)])
    bottom = np.hstack([np.ones((len(parents), prompt_len), dtype=bool), parent_closure(parents)])
    return np.vstack([top, bottom])
