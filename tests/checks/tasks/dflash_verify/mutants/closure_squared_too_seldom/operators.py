"""Tree verification seen as linear algebra over the Boolean semiring.

Let E be the N x N parent operator, E[i, parent(i)] = 1 (roots have an empty row).  Then the node-to-node part of the
tree mask is the reflexive-transitive closure  (I + E)^d , d the depth of the tree, which repeated squaring delivers
in O(log d) products.  Parents are given as indices among the nodes, -1 for a node that hangs on the prompt.
"""
import numpy as np


class ParentOperator:
    """E of a draft forest, its depths and its closure."""

    def __init__(self, parents):
        self.parents = np.asarray(parents, dtype=np.int64).reshape(-1)
        n = self.size = len(self.parents)
        if n and (self.parents.min() < -1 or self.parents.max() >= n):
            raise ValueError("a parent is -1 or the index of a node")
        self.depths = self._depths()

    def _depths(self):
        """Distance of each node from its root; walking all nodes up in lockstep, so in any node order."""
        depths, at = np.zeros(self.size, np.int64), self.parents.copy()
        for _ in range(self.size + 1):
            alive = at >= 0
            if not alive.any():
                return depths
            depths += alive
            at = np.where(alive, self.parents[at], -1)
        raise ValueError("the parents form a cycle")

    def matrix(self):
        e = np.zeros((self.size, self.size), dtype=bool)
        child = np.flatnonzero(self.parents >= 0)
        e[child, self.parents[child]] = True
        return e

    def closure(self):
        """C[i, j]: j is i or an ancestor of i."""
        c = np.eye(self.size, dtype=bool) | self.matrix()
        # I + E reaches one generation, and every squaring doubles the reach
        deepest = int(self.depths.max(initial=0))
        for _ in range(deepest.bit_length() - 1):
            c = (c.astype(np.float32) @ c.astype(np.float32)) > 0
        return c


def build_tree_mask(prompt_len, tree_parents):
    """(P+N, P+N) bool, True where the row may look at the column."""
    tree = ParentOperator(tree_parents)
    p, n = int(prompt_len), tree.size
    mask = np.zeros((p + n, p + n), dtype=bool)
    mask[:p, :p] = np.tri(p, dtype=bool)
    mask[p:, :p] = True
    mask[p:, p:] = tree.closure()
    return mask
