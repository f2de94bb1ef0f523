"""Drawing draft trees: right paths among decoys, in every order of listing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, greedy, likeliest
from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["ORDERS", "chain", "drawn", "ordered", "prompt_of"]

#: How nodes may be listed, parents before children: level by level, branch by branch, anyhow.
ORDERS = ("level by level", "branch by branch", "in random order")


def prompt_of(rng: np.random.Generator, vocab_size: int, length: int) -> Tokens:
    """A random prompt."""
    return tuple(int(token) for token in rng.integers(vocab_size, size=length))


def chain(tokens: Sequence[int]) -> Tree:
    """Tokens drafted one after another."""
    return Tree(tuple(tokens), tuple(range(-1, len(tokens) - 1)))


@dataclass(slots=True)
class _Growing:
    """A tree as it grows; ``level`` holds the token that no decoy of its depth may have.

    What a node's path says, what the model goes on with there and whether the path is right changes no more.
    """

    rng: np.random.Generator
    rows: Rows
    prompt: Tokens
    level: Tokens = ()
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    texts: dict[int, Tokens] = field(default_factory=lambda: {-1: ()})
    follows: dict[int, int] = field(default_factory=dict)
    fits: dict[int, bool] = field(default_factory=lambda: {-1: True})

    def add(self, token: int, parent: int) -> int:
        self.tokens.append(token)
        self.parents.append(parent)
        node = len(self.tokens) - 1
        self.texts[node] = (*self.texts[parent], token)
        return node

    def wanted(self, parent: int) -> int:
        if parent not in self.follows:
            self.follows[parent] = likeliest(self.rows, (*self.prompt, *self.texts[parent]))
        return self.follows[parent]

    def right(self, node: int) -> bool:
        """Whether every node of a path is what the model goes on with."""
        if node not in self.fits:
            above = self.parents[node]
            self.fits[node] = self.right(above) and self.tokens[node] == self.wanted(above)
        return self.fits[node]

    def decoy(self, parent: int, *, right: bool) -> bool:
        """A sibling that is wrong, or (below a wrong node) what the model would go on with there."""
        token = self.wanted(parent)
        taken = {self.tokens[i] for i, above in enumerate(self.parents) if above == parent}
        if self.level:
            taken.add(self.level[len(self.texts[parent])])
        free = [t for t in range(self.rows.vocab_size) if t not in taken and t != token]
        if right and token not in taken:
            self.add(token, parent)
        elif free:
            self.add(int(self.rng.choice(free)), parent)
        else:
            return False
        return True


def drawn(
    rng: np.random.Generator,
    rows: Rows,
    prompt: Tokens,
    size: int,
    right: int,
    *,
    order: str = ORDERS[2],
    twins: bool = False,
    bait: bool = True,
) -> Tree:
    """A random tree with a right path in it.

    Args:
        rng: Draws it.
        rows: The target model.
        prompt: What it continues.
        size: N.
        right: Nodes of the right path, at most N; the tree holds no longer one.
        order: One of :data:`ORDERS`.
        twins: Whether a node of the right path gets siblings of the same token, each with nodes below it.
        bait: Whether nodes below wrong ones may look right: as the model goes on there, or at their depth.
    """
    level = greedy(rows, prompt, size + 1)[0]
    growing = _Growing(rng, rows, prompt, () if bait else level)
    path = [-1]
    for _step in range(right):
        path.append(growing.add(growing.wanted(path[-1]), path[-1]))
    if twins and right and size > right:
        node = int(rng.choice(path[1:]))
        twin = growing.add(growing.tokens[node], growing.parents[node])
        if size > right + 1 and rng.random() < 0.5:
            # The right token below the other of the two, or below both.
            growing.add(growing.wanted(twin), twin)
    for _attempt in range(50 * size):
        if len(growing.tokens) >= size:
            break
        parent = int(rng.integers(-1, len(growing.tokens)))
        growing.decoy(parent, right=bait and not growing.right(parent) and rng.random() < 0.6)
    tree = Tree(tuple(growing.tokens), tuple(growing.parents))
    return tree.listed(ordered(rng, tree, order))


def ordered(rng: np.random.Generator, tree: Tree, order: str) -> list[int]:
    """Nodes in one of :data:`ORDERS`, siblings shuffled."""
    shuffled = [int(node) for node in rng.permutation(len(tree))]
    if order == ORDERS[0]:
        return sorted(shuffled, key=lambda node: len(tree.path(node)))
    listed: list[int] = []
    open_ = [node for node in shuffled if tree.parents[node] < 0]
    while open_:
        at = len(open_) - 1 if order == ORDERS[1] else int(rng.integers(len(open_)))
        node = open_.pop(at)
        listed.append(node)
        open_ += [child for child in shuffled if tree.parents[child] == node]
    return listed
