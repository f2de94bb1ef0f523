"""How nodes of a draft tree are shown to each other wrongly, by formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.dflash_verify.masks import Matrix

__all__ = ["AMONG_NODES", "Levels", "Tokens", "levels", "roots", "seen", "self_alone", "steps", "without"]

Tokens: TypeAlias = "tuple[int, ...]"
Levels = npt.NDArray[np.int64]


def _edges(parents: Sequence[int]) -> Matrix:
    """(N, N): who is whose parent; a number that is none counts from no end."""
    size = len(parents)
    edges = np.zeros((size, size), dtype=bool)
    for node, parent in enumerate(parents):
        if 0 <= parent < size:
            edges[node, parent] = True
    return edges


def _closed(edges: Matrix) -> Matrix:
    """Whatever is reached along edges, oneself among it."""
    reach = edges | np.eye(len(edges), dtype=bool)
    while True:
        further = np.asarray(reach.astype(np.float32) @ reach.astype(np.float32) > 0)
        if np.array_equal(further, reach):
            return reach
        reach = further


def seen(parents: Sequence[int]) -> Matrix:
    """What nodes see of each other, (N, N)."""
    return _closed(_edges(parents))


def self_alone(parents: Sequence[int]) -> Matrix:
    """Every node itself, (N, N)."""
    return np.eye(len(parents), dtype=bool)


def levels(parents: Sequence[int]) -> Levels:
    """(N, N): by how many levels a node is below another."""
    depths = seen(parents).sum(axis=1)
    return np.asarray(depths[:, None] - depths[None, :])


def roots(parents: Sequence[int]) -> Matrix:
    """Which nodes follow the prompt, (N,)."""
    return np.asarray(np.array(parents) < 0)


def _siblings(parents: Sequence[int]) -> Matrix:
    above = np.array(parents)
    return np.asarray(above[:, None] == above[None, :])


def _before(parents: Sequence[int]) -> Matrix:
    return np.tri(len(parents), dtype=bool)


def _from_the_end(parents: Sequence[int]) -> Matrix:
    """The closure in which the last node is the parent of roots."""
    size = len(parents)
    return seen([parent % size for parent in parents])


def _jumping(parents: Sequence[int]) -> Matrix:
    """Pointers that jump over twice as many levels each time, -1 among them."""
    reach, jump = self_alone(parents), np.array(parents)
    for _round in range(int(np.ceil(np.log2(max(len(parents), 2)))) + 1):
        reach = reach | reach[jump]
        jump = np.where(jump < 0, -1, jump[jump])
    return reach


def _last_column(parents: Sequence[int]) -> Matrix:
    shown = seen(parents)
    shown[:, -1] = True
    return shown


def without(seen: Matrix, columns: Matrix, parents: Sequence[int]) -> Matrix:
    """Some are seen by themselves alone."""
    return np.asarray((seen & ~columns[None, :]) | self_alone(parents))


def _node_0(parents: Sequence[int]) -> Matrix:
    return np.asarray(np.arange(len(parents)) == 0)


def _rolled(parents: Sequence[int], by: int, *, own: bool) -> Matrix:
    """Rows of another node; where there is none, no row."""
    shown, rows = seen(parents), np.zeros((len(parents),) * 2, dtype=bool)
    if by > 0:
        rows[by:] = shown[:-by]
    else:
        rows[:by] = shown[-by:]
    return np.asarray(rows | self_alone(parents)) if own else rows


def steps(parents: Sequence[int], kept: Callable[[Levels], Matrix]) -> Matrix:
    """Of the ancestors those at certain distances."""
    return np.asarray(seen(parents) & kept(levels(parents)))


def _place_above(parents: Sequence[int], *, around: bool) -> Matrix:
    """A node takes over the row of the one at its place in the level above."""
    depths = seen(parents).sum(axis=1)
    shown, above = self_alone(parents), list[int]()
    for depth in range(1, int(depths.max(initial=0)) + 1):
        level = np.flatnonzero(depths == depth).tolist()
        for place, node in enumerate(level):
            if above:
                shown[node] |= shown[above[place % len(above) if around else min(place, len(above) - 1)]]
        above = level
    return shown


def _power(above: Levels) -> Matrix:
    return np.asarray((above & (above - 1)) == 0)


#: Nodes among themselves: words behind "as where" → the formulas that they stand for.
AMONG_NODES: Mapping[str, Sequence[Callable[[Tokens], Matrix]]] = {
    "a root's parent -1 is read as an index from the end: a root takes over what the last node sees": (
        _from_the_end,
        _jumping,
        lambda p: np.asarray(seen(p) | (roots(p)[:, None] & seen(p)[-1][None, :])),
        lambda p: np.asarray(seen(p) | (roots(p)[:, None] & (np.arange(len(p)) == len(p) - 1)[None, :])),
    ),
    "the -1 behind a root is written as a column, which is the last node's": (_last_column,),
    "no node sees any other": (self_alone,),
    "a node sees itself and its parent, and none above": (lambda p: _edges(p) | self_alone(p),),
    "a node sees its parent alone, not itself": (_edges,),
    "a node does not see itself": (lambda p: seen(p) & ~self_alone(p),),
    "a node does not see its parent, though those above": (lambda p: seen(p) & ~_edges(p),),
    "rows and columns are exchanged: a node sees its descendants, not its ancestors": (lambda p: seen(p).T,),
    "a node sees its descendants beside its ancestors, as in a symmetric mask": (
        lambda p: seen(p) | seen(p).T,
    ),
    "a node sees its siblings as well": (
        lambda p: seen(p) | _siblings(p),
        lambda p: seen(p) | (_siblings(p) & ~roots(p)[:, None]),
    ),
    "a node sees the siblings that are listed before it as well": (
        lambda p: seen(p) | (_siblings(p) & _before(p)),
        lambda p: seen(p) | (_siblings(p) & _before(p) & ~roots(p)[:, None]),
    ),
    "a node sees its ancestors' siblings and its own as well": (lambda p: _closed(_edges(p) | _siblings(p)),),
    "nodes see all that are listed before them, as in a chain, whatever their parents": (_before,),
    "all nodes see each other": (lambda p: np.ones((len(p),) * 2, dtype=bool),),
    "nodes see the whole tree below their root, other branches too": (
        lambda p: _closed(_edges(p) | _edges(p).T),
    ),
    "nodes see all that are listed before them below their root, other branches too": (
        lambda p: _closed(_edges(p) | _edges(p).T) & _before(p),
    ),
    "nodes see all that are less deep, in whatever branch": (
        lambda p: (levels(p) > 0) | self_alone(p),
        lambda p: ((levels(p) > 0) & _before(p)) | self_alone(p),
    ),
    "nodes see all that are no deeper, in whatever branch": (
        lambda p: levels(p) >= 0,
        lambda p: (levels(p) >= 0) & _before(p),
    ),
    "what is seen is hidden, and what is hidden seen, among the nodes": (lambda p: ~seen(p),),
    "a node has the row of the one that is listed before it": (
        lambda p: _rolled(p, 1, own=False),
        lambda p: _rolled(p, 1, own=True),
        lambda p: np.roll(seen(p), 1, axis=0),
    ),
    "a node has the row of the one that is listed behind it": (
        lambda p: _rolled(p, -1, own=False),
        lambda p: _rolled(p, -1, own=True),
        lambda p: np.roll(seen(p), -1, axis=0),
    ),
    "a node takes over what the node at its place in the level above sees, whoever its parent is": (
        lambda p: _place_above(p, around=True),
        lambda p: _place_above(p, around=False),
    ),
    "node 0 is taken for no parent: nodes below it do not see it": (
        lambda p: without(seen(p), _node_0(p), p),
        lambda p: seen([parent or -1 for parent in p]),
    ),
    "a climb ends before the root: roots are seen by themselves alone": (
        lambda p: without(seen(p), roots(p), p),
    ),
    "parents are taken to be counted from one": (lambda p: seen([parent - 1 for parent in p]),),
    "parents are taken one too high, -1 as node 0": (lambda p: seen([parent + 1 for parent in p]),),
    "ancestors are found at distances that are powers of two alone": (lambda p: steps(p, _power),),
    "every other level of ancestors is left out": (lambda p: steps(p, lambda above: above % 2 == 0),),
    "the last node has no row": (
        lambda p: seen(p) & (np.arange(len(p)) < len(p) - 1)[:, None],
        lambda p: (seen(p) & (np.arange(len(p)) < len(p) - 1)[:, None]) | self_alone(p),
    ),
}
