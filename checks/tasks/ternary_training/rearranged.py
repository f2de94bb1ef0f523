"""Projected weights that are right ones of other places: packed in one order and unpacked in another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.roles import GROUP

__all__ = ["rearranged"]

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64]

#: Sizes whose places are looked at, and rows that tell columns apart.
_WIDEST, _MOST_ROWS, _FEWEST_ROWS = 2304, 40, 6
#: Relative to the largest.
_SAME = 1e-5
#: Places that are listed where no rule names them.
_LISTED = 8


def rearranged(answers: Sequence[tuple[Array, Array]]) -> str:
    """From where each column, or row, was taken, as a clause; empty where they were not exchanged.

    Args:
        answers: What should have come and what came, (out, in) each: weights, or levels.
    """
    for axis, word in ((1, "input"), (0, "output")):
        told: set[str] = set()
        for right, seen in _stacked(answers) if axis else answers:
            if np.allclose(right, seen, rtol=_SAME, atol=_SAME):
                continue
            if right.shape[axis] > _WIDEST or (places := _places(right, seen, axis)) is None:
                told.clear()
                break
            # what a short last group shows has to fit, and names nothing
            if (places < right.shape[axis]).all() and not (axis and right.shape[1] % GROUP):
                told.add(_named(places, word))
        else:
            if told:
                return sorted(told, key=lambda words: (" all " in words, len(words)))[0]
    whole = [(right, seen) for right, seen in answers if min(right.shape) > 1]
    if whole and all(_equal(seen, right.T.reshape(right.shape)) for right, seen in whole):
        return "what stands there are the rows of a matrix that was flattened by columns"
    if whole and all(_equal(seen, right.reshape(right.shape[::-1]).T) for right, seen in whole):
        return "what stands there are the columns of a matrix that was flattened by rows"
    return ""


def _equal(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=_SAME, atol=_SAME))


def _stacked(answers: Sequence[tuple[Array, Array]]) -> Iterator[tuple[Array, Array]]:
    """Answers of one width as one: their columns are exchanged alike."""
    for width in dict.fromkeys(right.shape[1] for right, _seen in answers):
        alike = [pair for pair in answers if pair[0].shape[1] == width]
        right, seen = (np.concatenate([pair[side] for pair in alike]) for side in (0, 1))
        wrong = np.flatnonzero((np.abs(right - seen) > _SAME * np.maximum(1.0, np.abs(right))).any(axis=1))
        # wrong rows tell the most; one that is right may not be left out of what has to fit
        order = np.concatenate([wrong, np.setdiff1d(np.arange(len(right)), wrong)])[:_MOST_ROWS]
        if len(order) >= _FEWEST_ROWS:
            yield right[order], seen[order]


def _places(right: Array, seen: Array, axis: int) -> Places | None:
    """Where each column or row comes from; ``None`` where one comes from nowhere, or all stay."""
    one, other = (each if axis else each.T for each in (right, seen))
    if axis and one.shape[1] % GROUP:
        # the padding of a last group that is short, which may have come in its weights' places
        one = np.pad(one, ((0, 0), (0, GROUP - one.shape[1] % GROUP)))
    slack = _SAME * np.maximum(1.0, np.abs(one))
    places = np.arange(other.shape[1])
    for place in places.copy():
        fits = np.flatnonzero((np.abs(one - other[:, place : place + 1]) <= slack).all(axis=0))
        if not len(fits):
            return None
        if place not in fits:
            # twins are told apart by nothing: the one of its own group, else the first
            near = fits[fits // GROUP == place // GROUP]
            places[place] = near[0] if len(near) else fits[0]
    moved = places != np.arange(len(places))
    # of a short group most may come from its padding
    several = one.shape[1] > len(places) or len(np.unique(places)) > len(places) // 2
    return places if moved.any() and several else None


def _named(places: Places, word: str) -> str:
    """A rule for places, or the first of them."""
    count = len(places)
    units = [unit for unit in (2, 4, 8, 16, 32, 64, GROUP, count) if unit <= count and count % unit == 0]
    for unit in dict.fromkeys(units):
        own = places.reshape(-1, unit) - np.arange(0, count, unit)[:, None]
        if (own != own[0]).any() or own.min() < 0 or own.max() >= unit:
            continue
        each = unit < count or (unit == GROUP and word == "input")
        within = f"of each {unit} {word}s" if each else f"of all {word}s"
        return f"right ones stand at other places {within}: {_order(own[0])}"
    return f"right ones stand at other {word}s: {_listed(places)}"


def _order(own: Places) -> str:
    """The order of places within a unit."""
    unit = len(own)
    index = np.arange(unit)
    if (own == index[::-1]).all():
        return "in reverse order" if unit > 2 else "neighbours are exchanged"
    for step in range(1, unit):
        if (own == (index + step) % unit).all():
            back = step > unit // 2
            return f"moved by {unit - step if back else step} towards the {'end' if back else 'start'}"
    for rows in range(2, unit):
        if unit % rows == 0 and (own == index.reshape(rows, -1).T.ravel()).all():
            return f"packed as {rows} × {unit // rows} and read as {unit // rows} × {rows}"
    block = _block(own)
    if block == 1:
        return _listed(own)
    order = ", ".join(f"{each // block}" for each in own[::block])
    return f"blocks of {block} are those of {order} in this order, packed in one and unpacked in another"


def _block(own: Places) -> int:
    """The largest block that is moved as a whole."""
    unit, fits = len(own), 1
    for block in range(2, unit):
        if unit % block == 0:
            parts = own.reshape(-1, block)
            if (parts == parts[:, :1] + np.arange(block)).all() and (parts[:, 0] % block == 0).all():
                fits = block
    return fits


def _listed(places: Places) -> str:
    moved = np.flatnonzero(places != np.arange(len(places)))[:_LISTED]
    more = ", …" if (places != np.arange(len(places))).sum() > _LISTED else ""
    return ", ".join(f"at {place} that of {places[place]}" for place in moved) + more
