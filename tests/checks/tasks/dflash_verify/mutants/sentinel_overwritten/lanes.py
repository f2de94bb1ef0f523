# bug: scratch that is kept by a power of two lacks a row, so a tree of 2, 4, 8 … nodes spoils it for the next
# caught by: golden, tree_mask
"""Ancestor lanes for tree attention.

Building an (N, N) ancestor matrix allocates on every decoding cycle.  Draft
trees come in few sizes, so scratch matrices are kept per power-of-two bucket
and reused.  Every lane that belongs to the current tree is overwritten in
full, hence the scratch never needs clearing.
"""
from typing import Dict

import numpy as np

_SCRATCH: Dict[int, np.ndarray] = {}


def bucket_for(n: int) -> int:
    """Smallest power of two that holds ``n`` lanes."""
    return 1 << max(n - 1, 0).bit_length()


def _scratch(n: int) -> np.ndarray:
    cap = bucket_for(n)
    lanes = _SCRATCH.get(cap)
    if lanes is None:
        lanes = _SCRATCH[cap] = np.zeros((cap, cap), dtype=bool)
    return lanes


def ancestor_lanes(parents: np.ndarray) -> np.ndarray:
    """(N, N) bool view: lane i is set at i and at all ancestors of i.

    A node inherits the lane of its parent and adds itself.  Roots have the
    parent -1, which addresses the empty lane at the end of the scratch, so
    that they need no branch.
    """
    n = len(parents)
    lanes = _scratch(n)
    for node, parent in enumerate(parents):
        lanes[node] = lanes[parent]
        lanes[node, node] = True
    return lanes[:n, :n]


def build_tree_mask(prompt_len: int, tree_parents) -> np.ndarray:
    """Attention mask of prompt and tree, (P+N, P+N) bool, True = visible.

    The prompt is causal; a tree node sees the whole prompt, its ancestors and
    itself.  Parents must precede their children.
    """
    parents = check_parents(tree_parents)
    size = prompt_len + len(parents)
    mask = np.zeros((size, size), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    mask[prompt_len:, :prompt_len] = True
    mask[prompt_len:, prompt_len:] = ancestor_lanes(parents)
    return mask


def check_parents(tree_parents) -> np.ndarray:
    """Parents as an integer vector in topological order."""
    parents = np.asarray(tree_parents, dtype=np.intp).ravel()
    if np.any(parents < -1) or np.any(parents >= np.arange(len(parents))):
        raise ValueError("each parent must be -1 or precede its child")
    return parents
