"""Everything that depends only on the *shape* of the draft tree.

A tree is a list of parent indices; -1 marks a root (it follows the last prompt
token).  Nodes may be listed in any order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def _validated(tree_parents: Sequence[int]) -> list[int]:
    parents = [int(p) for p in tree_parents]
    n = len(parents)
    for node, parent in enumerate(parents):
        if not -1 <= parent < n:
            raise ValueError(f"node {node}: parent {parent} is outside [-1, {n - 1}]")
    return parents


def ancestry(tree_parents: Sequence[int]) -> list[list[int]]:
    """For each node, the path ``[root, ..., node]`` (inclusive at both ends)."""
    parents = _validated(tree_parents)
    known: dict[int, list[int]] = {}
    for start in range(len(parents)):
        pending: list[int] = []
        node = start
        while node != -1 and node not in known:
            pending.append(node)
            if len(pending) > len(parents):
                raise ValueError("tree_parents contains a cycle")
            node = parents[node]
        prefix = [] if node == -1 else known[node]
        for item in reversed(pending):
            prefix = prefix + [item]
            known[item] = prefix
    return [known[i] for i in range(len(parents))]


def node_depths(tree_parents: Sequence[int]) -> list[int]:
    """Depth of each node; roots have depth 0."""
    return [len(path) - 1 for path in ancestry(tree_parents)]


def build_tree_mask(prompt_len: int, tree_parents: Sequence[int]) -> np.ndarray:
    """Boolean attention mask over ``prompt ++ tree``; ``True`` means *may attend*.

    Prompt rows are causal; a tree row sees the prompt, its ancestors and itself.
    """
    if prompt_len < 0:
        raise ValueError("prompt_len must be non-negative")
    paths = ancestry(tree_parents)
    total = prompt_len + len(paths)
    visible = np.zeros((total, total), dtype=bool)
    visible[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    for node, path in enumerate(paths):
        row = visible[prompt_len + node]
        row[:prompt_len] = True
        row[prompt_len + np.asarray(path)] = True
    return visible


def children_of(tree_parents: Sequence[int]) -> dict[int, list[int]]:
    """Children of each node in listing order; key -1 holds the roots."""
    table: dict[int, list[int]] = {i: [] for i in range(-1, len(tree_parents))}
    for node, parent in enumerate(_validated(tree_parents)):
        table[parent].append(node)
    return table
