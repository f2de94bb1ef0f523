"""Draft trees: flattened tokens with parents, and what verification of one must give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["Tokens", "Tree", "accepted", "greedy", "likeliest", "margin", "shown", "visibility"]

Tokens = tuple[int, ...]
#: Numbers that a sentence names.
_SHOWN = 16


@dataclass(frozen=True, slots=True)
class Tree:
    """A forest of drafted tokens below one prompt.

    Attributes:
        tokens: Token of each node, (N,).
        parents: Node that each node follows; -1 for a root, which follows the prompt.
    """

    tokens: Tokens
    parents: Tokens

    def __len__(self) -> int:
        return len(self.tokens)

    def path(self, node: int) -> Tokens:
        """Nodes from a root down to ``node``; empty for -1."""
        nodes: list[int] = []
        while node >= 0:
            nodes.append(node)
            node = self.parents[node]
        return tuple(reversed(nodes))

    def text(self, nodes: Iterable[int]) -> Tokens:
        """Their tokens."""
        return tuple(self.tokens[node] for node in nodes)

    def children(self, node: int) -> Tokens:
        """Nodes that follow ``node``; the roots for -1."""
        return tuple(i for i, parent in enumerate(self.parents) if parent == node)

    def drafted(self, tokens: Sequence[int]) -> bool:
        """Whether tokens are spelled by a path from a root."""
        level = {-1}
        for token in tokens:
            level = {c for node in level for c in self.children(node) if self.tokens[c] == token}
        return bool(level)

    def is_path(self, nodes: Sequence[int]) -> bool:
        """Whether nodes follow each other, the first one being a root, or siblings of the same token do.

        Nodes that end the same text have the same keys and values, so that each may stand for all of them.
        """
        text = self.text(nodes)
        return all(self.text(self.path(node)) == text[:depth] for depth, node in enumerate(nodes, 1))

    def listed(self, order: Sequence[int]) -> Tree:
        """The same tree with its nodes in another order."""
        place = {node: index for index, node in enumerate(order)}
        return Tree(
            tuple(self.tokens[node] for node in order),
            tuple(place.get(self.parents[node], -1) for node in order),
        )

    def __str__(self) -> str:
        return f"tokens {shown(self.tokens)}, parents {shown(self.parents)}"


def shown(numbers: Sequence[int]) -> str:
    """Numbers for people: the first and last few of many."""
    if len(numbers) <= _SHOWN:
        return str(list(numbers))
    first, last = (", ".join(map(str, part)) for part in (numbers[: _SHOWN - 2], numbers[-2:]))
    return f"[{first}, …, {last}]"


def visibility(prompt_len: int, parents: Sequence[int]) -> npt.NDArray[np.bool_]:
    """The tree mask, (P + N, P + N): true where the row's position sees the column's.

    Args:
        prompt_len: P.
        parents: As in :class:`Tree`, in any order.
    """
    size = prompt_len + len(parents)
    seen = np.tri(size, dtype=bool)
    seen[prompt_len:, prompt_len:] = False
    for node in range(len(parents)):
        above = node
        while above >= 0:
            seen[prompt_len + node, prompt_len + above] = True
            above = parents[above]
    return seen


def likeliest(rows: Rows, prefix: Sequence[int]) -> int:
    """Token that greedy decoding takes after a prefix."""
    return int(np.argmax(rows.row(prefix)))


def margin(rows: Rows, prefix: Sequence[int]) -> float:
    """By how much the likeliest token leads, in log-probability."""
    top: Any = np.partition(rows.row(prefix), -2)[-2:]
    return float(top[1] - top[0])


def greedy(rows: Rows, prefix: Sequence[int], count: int) -> tuple[Tokens, float]:
    """Greedy autoregressive decoding.

    Returns:
        ``count`` tokens, and the smallest margin by which one of them led.
    """
    text, lead = list(prefix), float("inf")
    for _step in range(count):
        lead = min(lead, margin(rows, text))
        text.append(likeliest(rows, text))
    return tuple(text[len(prefix) :]), lead


def accepted(rows: Rows, prompt: Sequence[int], tree: Tree) -> Tokens:
    """Tokens of the longest path whose every node is the likeliest token at its parent."""
    level, text = {-1}, list(prompt)
    while True:
        wanted = likeliest(rows, text)
        level = {c for node in level for c in tree.children(node) if tree.tokens[c] == wanted}
        if not level:
            return tuple(text[len(prompt) :])
        text.append(wanted)
