"""Geometry of a draft tree that is appended to a prompt.

Mask polarity: this code base follows the ``torch.nn.MultiheadAttention``
convention for boolean attention masks, i.e. **True marks a pair that is NOT
allowed to attend** (blocked) and False marks a visible pair.
"""

import numpy as np


def check_parents(tree_parents):
    """Return the parents as an int array, insisting on parent-before-child order."""
    parents = np.asarray(tree_parents, dtype=np.int64).reshape(-1)
    for node, parent in enumerate(parents):
        if parent < -1 or parent >= node:
            raise ValueError(
                f"tree_parents[{node}] = {parent}: a parent must be -1 or an earlier node"
            )
    return parents


def node_depths(tree_parents):
    """Depth of each node; roots (parent -1) have depth 0."""
    parents = check_parents(tree_parents)
    depth = np.zeros(len(parents), dtype=np.int64)
    for node, parent in enumerate(parents):
        if parent >= 0:
            depth[node] = depth[parent] + 1
    return depth


def build_tree_mask(prompt_len, tree_parents):
    """(P+N, P+N) bool, ``blocked[q, k]``: True where query q must not see key k.

    Each tree row starts as a copy of its parent's row (so it inherits the whole
    prompt and all ancestors) and then additionally un-blocks its own column.
    """
    parents = check_parents(tree_parents)
    size = prompt_len + len(parents)
    blocked = np.ones((size, size), dtype=bool)
    for row in range(prompt_len):
        blocked[row, : row + 1] = False
    for node, parent in enumerate(parents):
        row = prompt_len + node
        if parent >= 0:
            blocked[row] = blocked[prompt_len + parent]
        else:
            blocked[row, :prompt_len] = False
        blocked[row, row] = False
    return blocked
