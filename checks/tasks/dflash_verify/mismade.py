"""How a tree mask is built wrongly, by formula: which known mistake gives every cell of all masks."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from judge_tui.checks.tasks.dflash_verify.masks import Matrix
from judge_tui.checks.tasks.dflash_verify.mismade_nodes import (
    AMONG_NODES,
    Levels,
    Tokens,
    levels,
    roots,
    seen,
    self_alone,
    steps,
    without,
)
from judge_tui.checks.tasks.dflash_verify.mispitched import mispitched
from judge_tui.checks.tasks.dflash_verify.trees import visibility

__all__ = ["Made", "explained"]

#: P and parents → a mask, or a part of one.
Formula: TypeAlias = "Callable[[int, Tokens], Matrix]"

#: Bounds that a construction may have, levels or nodes or tokens; what one leaves has words of its own.
_BOUNDS = range(2, 130)
#: What sizes may be rounded to.
_UNITS = (2, 4, 8, 16, 32, 64)
#: So many causes a sentence names.
_MOST = 2
#: And so many trees as examples.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Made:
    """A mask that came.

    Attributes:
        prompt_len: P.
        parents: Of the nodes; -1 for a root.
        visible: (P + N, P + N).
    """

    prompt_len: int
    parents: Tokens
    visible: Matrix


def _among(formula: Callable[[Tokens], Matrix]) -> Formula:
    return lambda _prompt_len, parents: formula(parents)


def _short(parents: Tokens, unit: int) -> int:
    """How many nodes are missing to a multiple."""
    return -len(parents) % unit


def _rounded(words: str, formula: Callable[[int, Tokens, int], Matrix]) -> dict[str, list[Formula]]:
    """One cause for each unit of what is rounded up or down."""
    return _bounded(words, formula, _UNITS)


def _bounded(
    words: str, formula: Callable[[int, Tokens, int], Matrix], bounds: Sequence[int] = _BOUNDS
) -> dict[str, list[Formula]]:
    """One cause for each bound."""

    def at(bound: int) -> Formula:
        return lambda prompt_len, parents: formula(prompt_len, parents, bound)

    return {words.format(bound): [at(bound)] for bound in bounds}


def _over(columns: Callable[[int, Tokens], Matrix]) -> list[Formula]:
    """Nodes over the prompt, where all of them see the same tokens of it."""
    return [lambda prompt_len, parents: np.tile(columns(prompt_len, parents), (len(parents), 1))]


def _tri(offset: int) -> list[Formula]:
    return [lambda prompt_len, _parents: np.tri(prompt_len, k=offset, dtype=bool)]


#: Rows and columns that are of the tree → words → formulas.
_PARTS: Mapping[tuple[bool, bool], Mapping[str, Sequence[Formula]]] = {
    (True, True): {
        **{words: [_among(formula) for formula in formulas] for words, formulas in AMONG_NODES.items()},
        **_bounded(
            "no more than {} levels of ancestors are seen",
            lambda _, parents, bound: steps(parents, lambda above: above <= bound),
        ),
        **_bounded(
            "nodes from number {} on are seen by none",
            lambda _, parents, bound: seen(parents) & (np.arange(len(parents)) < bound)[None, :],
        ),
        **_bounded(
            "nodes from number {} on are seen by themselves alone",
            lambda _, parents, bound: without(seen(parents), np.arange(len(parents)) >= bound, parents),
        ),
        **_bounded(
            "nodes from number {} on see none but themselves",
            lambda _, parents, bound: (
                (seen(parents) & (np.arange(len(parents)) < bound)[:, None]) | self_alone(parents)
            ),
        ),
    },
    (True, False): {
        "nodes see nothing of the prompt": _over(lambda n, _: np.zeros(n, dtype=bool)),
        "nodes see the last token of the prompt alone": _over(lambda n, _: np.arange(n) == n - 1),
        "nodes see the first token of the prompt alone": _over(lambda n, _: np.arange(n) == 0),
        "nodes do not see the last token of the prompt": _over(lambda n, _: np.arange(n) < n - 1),
        "nodes do not see the first token of the prompt": _over(lambda n, _: np.arange(n) > 0),
        "roots alone see the prompt": [lambda n, p: np.tile(roots(p)[:, None], (1, n))],
        "a node sees as many tokens of the prompt as its number allows, as if it stood in it": [
            lambda n, p: np.tri(len(p), n, dtype=bool),
            lambda n, p: np.tri(len(p), n, k=-1, dtype=bool),
        ],
        **_rounded("nodes do not see the last tokens of the prompt, as many as the tree is short of a "
            "multiple of {} nodes",
            lambda n, p, unit: np.tile(np.arange(n) < n - _short(p, unit), (len(p), 1))),
        **_rounded("nodes do not see the first tokens of the prompt, as many as the tree is short of a "
            "multiple of {} nodes", lambda n, p, unit: np.tile(np.arange(n) >= _short(p, unit), (len(p), 1))),
        **_rounded("nodes see whole pieces of {} tokens of the prompt, and nothing of what is left over",
            lambda n, p, unit: np.tile(np.arange(n) < n // unit * unit, (len(p), 1))),
        **_bounded("nodes see the last {} tokens of the prompt alone", lambda n, p, bound: np.tile(
            np.arange(n) >= n - bound, (len(p), 1))),
        **_bounded("nodes see the first {} tokens of the prompt alone", lambda n, p, bound: np.tile(
            np.arange(n) < bound, (len(p), 1))),
    },
    (False, False): {
        "the prompt sees the whole of itself, and is not causal": [lambda n, _: np.ones((n, n), dtype=bool)],
        "prompt tokens see none but themselves": [lambda n, _: np.eye(n, dtype=bool)],
        "prompt tokens see nothing, their rows are empty": [lambda n, _: np.zeros((n, n), dtype=bool)],
        "the prompt's triangle is the upper one: tokens see what follows": [
 lambda n, _: np.tri(n, dtype=bool).T],
        "prompt tokens do not see themselves": _tri(-1),
        "prompt tokens see the next one as well": _tri(1),
        **_bounded("prompt tokens see the last {} of themselves alone", lambda n, _, bound: (
            np.tri(n, dtype=bool) & ~np.tri(n, k=-bound, dtype=bool))),
    },
    (False, True): {
        "the prompt sees all nodes": [lambda n, p: np.ones((n, len(p)), dtype=bool)],
        "the last token of the prompt sees the roots": [
            lambda n, p: (np.arange(n) == n - 1)[:, None] & roots(p)[None, :]
        ],
        "the last token of the prompt sees all nodes": [
            lambda n, p: np.tile((np.arange(n) == n - 1)[:, None], (1, len(p)))
        ],
        "the prompt sees the roots": [lambda n, p: np.tile(roots(p), (n, 1))],
        "the prompt sees the first node": [lambda n, p: np.tile(np.arange(len(p)) == 0, (n, 1))],
    },
}  # fmt: skip


def _climbed(prompt_len: int, parents: Tokens, offset: int) -> Matrix:
    """Ancestors are written into columns that are so many behind their numbers; a node itself is right."""
    mask = visibility(prompt_len, parents)
    mask[prompt_len:, prompt_len:] = self_alone(parents)
    above = seen(parents) & ~self_alone(parents)
    for node, ancestor in zip(*np.nonzero(above), strict=True):
        if 0 <= ancestor + offset < len(mask):
            mask[prompt_len + node, ancestor + offset] = True
    return mask


def _copied(prompt_len: int, parents: Tokens) -> Matrix:
    """A node takes over the row of which its parent's number is the place, without the prompt's length."""
    mask = visibility(prompt_len, parents)
    mask[prompt_len:, prompt_len:] = False
    for node, parent in enumerate(parents):
        if parent >= 0:
            mask[prompt_len + node] |= mask[parent]
        mask[prompt_len + node, prompt_len + node] = True
    return mask


def _at_places(prompt_len: int, parents: Tokens) -> Matrix:
    """Parents are places: a climb goes on from the node that stands at one, and ends in the prompt."""
    return visibility(prompt_len, [max(parent - prompt_len, -1) for parent in parents])


#: Words → formulas for the whole of a mask.
_WHOLE: Mapping[str, Sequence[Formula]] = {
    "parents are taken for places in the whole sequence, without the prompt's length before them": [
        lambda n, p: _climbed(n, p, 0),
        _copied,
        _at_places,
    ],
    "ancestors are written one column too far to the left": [
        lambda n, p: _climbed(n, p, n - 1),
    ],
    "ancestors are written one column too far to the right": [lambda n, p: _climbed(n, p, n + 1)],
    "rows and columns are exchanged": [lambda n, p: visibility(n, p).T],
    "what is seen is hidden, and what is hidden seen": [lambda n, p: ~visibility(n, p)],
    "the whole sequence is causal, whatever the parents": [lambda n, p: np.tri(n + len(p), dtype=bool)],
}


def explained(masks: Sequence[Made]) -> str:
    """What explains every wrong cell of all masks, in words behind "as where"; empty where nothing does.

    Args:
        masks: All that were built, right ones among them.
    """
    truths = [visibility(made.prompt_len, made.parents) for made in masks]
    if all(np.array_equal(made.visible, truth) for made, truth in zip(masks, truths, strict=True)):
        return ""
    if kept := _kept(masks, truths):
        return kept
    if pitch := mispitched([(made.visible, truth) for made, truth in zip(masks, truths, strict=True)]):
        return pitch
    if whole := list(itertools.islice(_fitting(_WHOLE, masks, None), _MOST + 1)):
        return " or ".join(whole) if len(whole) <= _MOST else ""
    told: list[str] = []
    for part, causes in _PARTS.items():
        cut = [_cut(made.prompt_len, part) for made in masks]
        if all(np.array_equal(m.visible[c], t[c]) for m, t, c in zip(masks, truths, cut, strict=True)):
            continue
        fit = list(itertools.islice(_fitting(causes, masks, part), _MOST + 1))
        if part == (True, True) and not fit and (fewer := _levels_by_size(masks)):
            fit = [fewer]
        if not 0 < len(fit) <= _MOST:
            return ""
        told.append(" or ".join(fit))
    return "; and ".join(told)


def _kept(masks: Sequence[Made], truths: Sequence[Matrix]) -> str:
    """That every wrong mask is one that came before, of another tree."""
    for number, (made, truth) in enumerate(zip(masks, truths, strict=True)):
        before = (m.visible for m in masks[:number] if m.parents != made.parents)
        if not np.array_equal(made.visible, truth) and not any(
            np.array_equal(made.visible, m) for m in before
        ):
            return ""
    return "a mask that was built before for another tree comes back"


def _levels_by_size(masks: Sequence[Made]) -> str:
    """That each mask shows ancestors up to a bound of its own, as a closure that ends too soon does."""
    short: list[tuple[int, int, int]] = []
    for made in masks:
        shown = made.visible[_cut(made.prompt_len, (True, True))]
        above = levels(made.parents)
        bound, deepest = int(above[shown].max(initial=0)), int(above.max(initial=0))
        if not np.array_equal(shown, steps(made.parents, functools.partial(_within, bound))):
            return ""
        if bound < deepest:
            short.append((len(made.parents), bound, deepest))
    told = [f"{bound} of {deepest} in a tree of {size}" for size, bound, deepest in sorted(set(short))]
    return (
        f"ancestors are seen up to too few levels, a closure that ends too soon ({', '.join(told[:_NAMED])})"
    )


def _within(bound: int, above: Levels) -> Matrix:
    return np.asarray(above <= bound)


def _cut(prompt_len: int, part: tuple[bool, bool]) -> tuple[slice, slice]:
    rows, columns = (slice(prompt_len, None) if tree else slice(prompt_len) for tree in part)
    return rows, columns


def _fitting(
    causes: Mapping[str, Sequence[Formula]], masks: Sequence[Made], part: tuple[bool, bool] | None
) -> Iterator[str]:
    """Causes of which one formula gives all masks, or that part of each."""
    for words, formulas in causes.items():
        if any(all(_gives(formula, made, part) for made in masks) for formula in formulas):
            yield words


def _gives(formula: Formula, made: Made, part: tuple[bool, bool] | None) -> bool:
    visible = made.visible if part is None else made.visible[_cut(made.prompt_len, part)]
    return np.array_equal(formula(made.prompt_len, made.parents), visible)
