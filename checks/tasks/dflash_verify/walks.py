"""Ways to walk down a tree that take what the target does not: what each accepts, for evidence to name it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from judge_tui.checks.tasks.dflash_verify.trees import Tokens, Tree, likeliest
from judge_tui.checks.worker.scripted.models import Rows

__all__ = ["WALKS", "Wanted"]


class Wanted(dict[int, int]):
    """Node → the target's own token after it; and its children, each found once.

    Args:
        rows: The target.
        prompt: Token ids.
        tree: What was drafted.
    """

    def __init__(self, rows: Rows, prompt: Tokens, tree: Tree) -> None:
        super().__init__()
        self.rows, self.prompt, self.tree = rows, prompt, tree
        self._children: dict[int, list[int]] = {}
        for node, parent in enumerate(tree.parents):
            self._children.setdefault(parent, []).append(node)

    def __missing__(self, node: int) -> int:
        self[node] = likeliest(self.rows, self.text(node))
        return self[node]

    def text(self, node: int) -> Tokens:
        """The prompt, and what leads to a node."""
        return (*self.prompt, *self.tree.text(self.tree.path(node)))

    def children(self, node: int) -> list[int]:
        """Those that follow it."""
        return self._children.get(node, [])

    def fits(self) -> list[bool]:
        """Of each node, whether its own parent predicts it, accepted or not."""
        return [
            self[parent] == token for parent, token in zip(self.tree.parents, self.tree.tokens, strict=True)
        ]

    def deepest(self, nodes: Sequence[int], *, last: bool = False) -> int:
        """Of nodes the deepest, the first or the last of those that are as deep; -1 of none."""
        depths = [(len(self.tree.path(node)), node if last else -node) for node in nodes]
        return abs(max(depths)[1]) if depths else -1


#: What is accepted of a tree.
Walk: TypeAlias = "Callable[[Wanted], Tokens]"


def _down(wanted: Wanted, chosen: Callable[[int, list[int]], int | None]) -> Tokens:
    """The tokens of a walk from the prompt down, by which child is chosen at each node."""
    node, tokens = -1, wanted.tree.tokens
    text: list[int] = []
    while (children := wanted.children(node)) and (child := chosen(node, children)) is not None:
        text.append(tokens[child])
        node = child
    return tuple(text)


def _own(wanted: Wanted, node: int, children: list[int]) -> int | None:
    return next((child for child in children if wanted.tree.tokens[child] == wanted[node]), None)


def _lone(wanted: Wanted) -> Tokens:
    def chosen(node: int, children: list[int]) -> int | None:
        return children[0] if node < 0 and len(children) == 1 else _own(wanted, node, children)

    return _down(wanted, chosen)


def _only(wanted: Wanted) -> Tokens:
    def chosen(node: int, children: list[int]) -> int | None:
        return children[0] if len(children) == 1 else _own(wanted, node, children)

    return _down(wanted, chosen)


def _climbed(*, last: bool) -> Walk:
    def walk(wanted: Wanted) -> Tokens:
        end = wanted.deepest([n for n, fits in enumerate(wanted.fits()) if fits], last=last)
        return wanted.tree.text(wanted.tree.path(end))

    return walk


def _below_grandparents(*, last: bool) -> Walk:
    def walk(wanted: Wanted) -> Tokens:
        refused: set[int] = set()
        good: list[int] = []
        for node, fits in enumerate(wanted.fits()):
            if wanted.tree.parents[node] not in refused:
                good.append(node) if fits else refused.add(node)
        return wanted.tree.text(wanted.tree.path(wanted.deepest(good, last=last)))

    return walk


def _every_fit(wanted: Wanted) -> Tokens:
    return wanted.tree.text(node for node, fits in enumerate(wanted.fits()) if fits)


def _fits_of_a_path(*, begun: bool, last: bool) -> Walk:
    """The fitting nodes of the path to the deepest, or the longest run of them that ends anywhere."""

    def walk(wanted: Wanted) -> Tokens:
        best: Tokens = ()
        fits = wanted.fits()
        for node in range(len(fits)):
            if not fits[node]:
                continue
            path = [at for at in wanted.tree.path(node) if fits[at]]
            if begun:
                whole = wanted.tree.path(node)
                cut = max((place for place, at in enumerate(whole) if not fits[at]), default=-1)
                path = list(whole[cut + 1 :])
            if len(path) > len(best) or (last and len(path) == len(best)):
                best = wanted.tree.text(path)
        return best

    return walk


def _by_level(*, asked: bool, last: bool) -> Walk:
    """A node of the depth and the token, asked of what was accepted, or of the node that was found."""

    def walk(wanted: Wanted) -> Tokens:
        tree, node = wanted.tree, -1
        depths = [len(tree.path(at)) for at in range(len(tree))]
        text: list[int] = []
        while True:
            token = likeliest(wanted.rows, (*wanted.prompt, *text)) if asked else wanted[node]
            found = [at for at, own in enumerate(tree.tokens) if own == token and depths[at] == len(text) + 1]
            if not found:
                return tuple(text)
            node = found[-1 if last else 0]
            text.append(token)

    return walk


def _without_offset(wanted: Wanted) -> Tokens:
    """Rows of parents are looked up by their number alone, the prompt's rows before them forgotten."""
    size, flat = len(wanted.prompt), (*wanted.prompt, *wanted.tree.tokens)

    def row(parent: int) -> int:
        if parent < 0:
            return wanted[-1]
        if parent < size:
            return likeliest(wanted.rows, flat[: parent + 1])
        return wanted[parent - size]

    def chosen(node: int, children: list[int]) -> int | None:
        return next((child for child in children if wanted.tree.tokens[child] == row(node)), None)

    return _down(wanted, chosen)


def _ranked(*, by_row: bool) -> Walk:
    """Deeper nodes are compared with tokens that are less likely behind the prompt."""

    def walk(wanted: Wanted) -> Tokens:
        best = np.argsort(-wanted.rows.row(wanted.prompt), kind="stable")

        def chosen(node: int, children: list[int]) -> int | None:
            place = node + 1 if by_row else len(wanted.tree.path(node))
            token = best[place] if place < len(best) else -1
            return next((child for child in children if wanted.tree.tokens[child] == token), None)

        return _down(wanted, chosen)

    return walk


def _among_two(*, listed: bool) -> Walk:
    def walk(wanted: Wanted) -> Tokens:
        def chosen(node: int, children: list[int]) -> int | None:
            best = np.argsort(-wanted.rows.row(wanted.text(node)), kind="stable")[:2].tolist()
            fit = [child for child in children if wanted.tree.tokens[child] in best]
            if not listed:
                fit.sort(key=lambda child: best.index(wanted.tree.tokens[child]))
            return fit[0] if fit else None

        return _down(wanted, chosen)

    return walk


def _forgiving(misses: int, *, last: bool) -> Walk:
    """So many refused nodes on the way are gone over, and accepted where what follows fits again."""

    def walk(wanted: Wanted) -> Tokens:
        text: list[int] = []
        node, length, left = -1, 0, misses
        while children := wanted.children(node):
            child = _own(wanted, node, children)
            if child is None and not left:
                break
            left -= child is None
            fits, node = child is not None, children[-1 if last else 0] if child is None else child
            text.append(wanted.tree.tokens[node])
            length = len(text) if fits else length
        return tuple(text[:length])

    return walk


def _longest_branch(wanted: Wanted) -> Tokens:
    return wanted.tree.text(wanted.tree.path(wanted.deepest(range(len(wanted.tree)))))


def _walks() -> Iterator[tuple[str, Walk]]:
    yield "a root that is the only one accepted without being asked about, others judged rightly", _lone
    yield "a node without siblings accepted without being asked about, others judged rightly", _only
    climbed = "the deepest node that its own parent predicts taken with all above it, refused ones among them"
    held = "only the children of a refused node refused with it, not what is below them"
    left = "nodes taken that their own parents predict, whether or not these were accepted"
    level = "a node found by its depth and token, whoever its parent is"
    two = "a node accepted where its token is among the target's two likeliest"
    for last in (False, True):
        yield climbed, _climbed(last=last)
        yield held, _below_grandparents(last=last)
        yield left, _fits_of_a_path(begun=False, last=last)
        yield left, _fits_of_a_path(begun=True, last=last)
        yield level, _by_level(asked=False, last=last)
        for misses, many in (
            (1, "one refused node"),
            (2, "two refused nodes"),
            (1 << 30, "any refused nodes"),
        ):
            over = f"{many} of a path gone over, and accepted where the target agrees with a later one again"
            yield over, _forgiving(misses, last=last)
    yield left, _every_fit
    yield level, _by_level(asked=True, last=False)
    yield "rows of parents looked up without the prompt's length before them", _without_offset
    ranked = (
        "the logits at the last prompt token alone: the n-th row is compared with its n-th likeliest token"
    )
    yield ranked, _ranked(by_row=True)
    yield ranked.replace("row", "level"), _ranked(by_row=False)
    yield two, _among_two(listed=False)
    yield two, _among_two(listed=True)
    yield "the first child always accepted, whatever the target says", lambda w: _down(w, lambda _, c: c[0])
    yield "the last child always accepted, whatever the target says", lambda w: _down(w, lambda _, c: c[-1])
    yield "the longest branch always accepted, whatever the target says", _longest_branch


#: Words, behind "as by" → what is accepted then, each of its variants by itself.
WALKS: Sequence[tuple[str, Walk]] = tuple(_walks())
