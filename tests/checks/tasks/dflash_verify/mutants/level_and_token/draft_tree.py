"""Static description of a draft tree: depths, attention mask, candidate index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class DraftTree:
    """A draft tree in its compiled form.  Use :meth:`compile` to make one.

    Attributes
    ----------
    tokens : (N,) int64
    parents : (N,) int64, -1 for roots
    level : (N,) int64, 1 for roots, so ``level`` is also "tokens past the prompt"
    lineage : (N, N) bool, ``lineage[i, j]`` iff ``j`` is ``i`` or an ancestor of it
    candidates : ``(level, token) -> node``, the lookup table of the verifier
    """

    tokens: np.ndarray
    parents: np.ndarray
    level: np.ndarray
    lineage: np.ndarray
    candidates: dict[tuple[int, int], int]

    @classmethod
    def compile(cls, tokens, parents) -> "DraftTree":
        tokens = np.array(tokens, dtype=np.int64).ravel()
        parents = np.array(parents, dtype=np.int64).ravel()
        if tokens.size != parents.size:
            raise ValueError(f"{tokens.size} tokens but {parents.size} parents")
        level, lineage = _trace(parents)

        # A block drafter proposes a short list of candidates per position.  Index
        # them once so that each verification step is a single dictionary lookup
        # instead of a scan over the children.  Drafters list their proposals best
        # first, hence setdefault: the earlier node has priority.
        candidates: dict[tuple[int, int], int] = {}
        for node in np.argsort(level, kind="stable"):
            candidates.setdefault((int(level[node]), int(tokens[node])), int(node))
        return cls(tokens, parents, level, lineage, candidates)

    def __len__(self) -> int:
        return self.tokens.size

    def attention_rows(self, prompt_len: int) -> np.ndarray:
        """(N, P+N) bool: the rows of the tree nodes in the full attention mask."""
        history = np.ones((len(self), prompt_len), dtype=bool)
        return np.hstack([history, self.lineage])


def _trace(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Levels and lineage matrix; nodes may come in any order."""
    n = parents.size
    if n and (parents.min() < -1 or parents.max() >= n):
        raise ValueError("a parent is neither -1 nor a node")
    lineage = np.zeros((n, n), dtype=bool)
    for node in range(n):
        walker = node
        while walker >= 0:
            if lineage[node, walker]:
                raise ValueError("the tree contains a cycle")
            lineage[node, walker] = True
            walker = int(parents[walker])
    return lineage.sum(axis=1), lineage


def build_tree_mask(prompt_len: int, tree_parents) -> np.ndarray:
    """Full (P+N, P+N) boolean mask: causal prompt, then one row per tree node that
    sees the prompt, its ancestors and itself."""
    tree = DraftTree.compile(np.zeros(len(tree_parents)), tree_parents)
    size = prompt_len + len(tree)
    mask = np.zeros((size, size), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    mask[prompt_len:] = tree.attention_rows(prompt_len)
    return mask
