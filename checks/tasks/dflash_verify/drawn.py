"""Tokens drawn at one place of a tree, and what comes where another row of the target is read for them.

A token that is drawn where a draft was refused, or behind a whole path, has one row to come from. Which other
one it comes from shows in its counts, as any mistake does that has a distribution of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["ROWS", "Array", "Drawn", "tried"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Tokens that were drawn at one place.

    Attributes:
        p: The target's distribution, (V,).
        siblings: What was drafted for the place, in order; none behind a whole path.
        counts: How often each token came, (V,).
        temperature: Of p.
        after: The target's distributions after each of the siblings.
        above: The one that judged what was accepted last; None at the first place.
        before: Siblings of that which were tried, and refused, before it.
        top: The one after the prompt; None where that is p.
    """

    p: Array
    siblings: Sequence[int]
    counts: Sequence[int]
    temperature: float = 1.0
    after: Sequence[Array] = ()
    above: Array | None = None
    before: Sequence[int] = ()
    top: Array | None = None


def tried(p: Array, siblings: Sequence[int], *, old: bool = False, last: bool = False) -> tuple[Array, Array]:
    """What is emitted of the siblings, and the distribution that is left when all are refused.

    Args:
        p: The target's.
        siblings: In order.
        old: Every sibling is accepted by the target's own probability.
        last: What was refused before the last one comes back.
    """
    emitted, left, refused = np.zeros_like(p), p.copy(), 1.0
    for token in siblings:
        chance = p[token] if old else left[token]
        emitted[token] += refused * chance
        refused *= 1.0 - chance
        left = (p if last else left).copy()
        left[token] = 0.0
        left /= max(left.sum(), 1e-300)
    return emitted, refused * left


def _replaced(drawn: Drawn, number: int, *, struck: bool = False) -> Array:
    """What replaces refused siblings is drawn by the row behind one of them."""
    emitted, left = tried(drawn.p, drawn.siblings)
    if not len(drawn.after):
        return emitted + left
    row = drawn.after[number].copy()
    if struck:
        row[list(drawn.siblings)] = 0.0
        row /= max(row.sum(), 1e-300)
    return np.asarray(emitted + left.sum() * row)


def _behind(drawn: Drawn, *, struck: bool) -> Array:
    """What comes behind a whole path is drawn by the row that judged its last node."""
    if drawn.siblings or drawn.above is None:
        emitted, left = tried(drawn.p, drawn.siblings)
        return emitted + left
    row = drawn.above.copy()
    if struck:
        row[list(drawn.before)] = 0.0
    return np.asarray(row / row.sum())


def _judged_at_itself(drawn: Drawn) -> Array:
    """A sibling is accepted by what the target says behind it."""
    if not len(drawn.after):
        return np.asarray(sum(tried(drawn.p, drawn.siblings)))
    emitted, refused, left = np.zeros_like(drawn.p), 1.0, drawn.p.copy()
    for token, row in zip(drawn.siblings, drawn.after, strict=True):
        emitted[token] += refused * row[token]
        refused *= 1.0 - row[token]
        left[token] = 0.0
    return np.asarray(emitted + refused * left / max(left.sum(), 1e-300))


def _by_the_top(drawn: Drawn, *, all_: bool) -> Array:
    """The row after the prompt counts for every place, or for what replaces refused siblings alone."""
    top = drawn.p if drawn.top is None else drawn.top
    emitted, left = tried(top if all_ else drawn.p, drawn.siblings)
    if all_ or not drawn.siblings:
        return emitted + left
    row = top.copy()
    row[list(drawn.siblings)] = 0.0
    return np.asarray(emitted + left.sum() * row / max(row.sum(), 1e-300))


def _first_is_the_likeliest(drawn: Drawn) -> Array:
    """The token behind the prompt is no draw; all others are."""
    if drawn.above is None:
        return np.asarray(np.eye(len(drawn.p))[int(np.argmax(drawn.p))])
    emitted, left = tried(drawn.p, drawn.siblings)
    return emitted + left


#: Words for a row that is read in place of the right one, behind "as where" → what is emitted.
ROWS: Mapping[str, Callable[[Drawn], Array]] = {
    "what replaces refused siblings is drawn by the target's row behind the last of them": lambda drawn: (
        _replaced(drawn, -1)
    ),
    "what replaces refused siblings is drawn by the target's row behind the first of them": lambda drawn: (
        _replaced(drawn, 0)
    ),
    "what replaces refused siblings is drawn by the row behind the last of them, less what was refused": (
        lambda drawn: _replaced(drawn, -1, struck=True)
    ),
    "the token behind a whole path is drawn by the row that judged its last node": lambda drawn: _behind(
        drawn, struck=False
    ),
    "the token behind a whole path is drawn by what was left of the row that judged its last node": (
        lambda drawn: _behind(drawn, struck=True)
    ),
    "siblings are accepted by the target's rows behind themselves": _judged_at_itself,
    "the token behind the prompt is the likeliest at every temperature, and later ones are drawn": (
        _first_is_the_likeliest
    ),
    "the row after the prompt counts at every place": lambda drawn: _by_the_top(drawn, all_=True),
    "what replaces refused siblings is drawn by the row after the prompt": lambda drawn: _by_the_top(
        drawn, all_=False
    ),
}
