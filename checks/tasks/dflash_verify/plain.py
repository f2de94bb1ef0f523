"""The mask that a submission's is timed against: a row is its parent's and itself, NumPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["call"]


def call(prompt_len: int, tree_parents: Any) -> Any:
    """(P + N, P + N) bool, true = visible; parents stand before their children, -1 is the prompt."""
    mask = np.tri(prompt_len + len(tree_parents), dtype=bool)
    mask[prompt_len:, prompt_len:] = False
    for node, parent in enumerate(tree_parents, prompt_len):
        if parent >= 0:
            mask[node] = mask[prompt_len + parent]
        mask[node, node] = True
    return mask
