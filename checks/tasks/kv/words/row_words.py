"""What a wrong row holds instead: the past of another, what another was fed, too much or too little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Row", "instead", "row_words"]

Array = npt.NDArray[Any]
#: Keys and values of a row, (H, N, D) each.
Row = tuple[Array, Array]
#: Whether a row is (keys, values) of some tokens.
Is = Callable[[Row], bool]
#: Empty slots that are tried at most.
_EMPTY = 17


def row_words(rows: Sequence[Is], wanted: Sequence[Row], before: Sequence[Row], old: Sequence[int],
              others: Sequence[Row], new: Sequence[int]) -> str:  # fmt: skip
    """What wrong rows are, as a clause; empty where nothing usual is it.

    Args:
        rows: For each row whether it is some tokens.
        wanted: What each should be.
        before: What each was before rows were changed.
        old: For each row which one it was.
        others: Further rows that were fed: those of another cache.
        new: How many tokens each was fed since rows were changed.
    """
    wrong = [b for b, (found, row) in enumerate(zip(rows, wanted, strict=True)) if not found(row)]
    if not wrong:
        return ""
    return _moved(rows, wanted, before, old, new) or next(
        filter(None, (_single(rows, wanted, before, old, others, new, b) for b in wrong)), ""
    )


def _moved(
    rows: Sequence[Is], wanted: Sequence[Row], before: Sequence[Row], old: Sequence[int], new: Sequence[int]
) -> str:
    """Which rows go on with the past of which, where that is not as it was asked."""
    for words, keys, values in (("past", True, True), ("keys", True, False), ("values", False, True)):

        def mixed(b: int, j: int, keys: bool = keys, values: bool = values) -> Row | None:
            if before[j][0].shape != before[old[b]][0].shape and not (keys and values):
                return None
            past = (before[j if keys else old[b]][0], before[j if values else old[b]][1])
            return _behind(past, wanted[b], new[b])

        found = []
        for b, is_it in enumerate(rows):
            tried = [old[b], *(j for j in range(len(before)) if j != old[b])]
            fits = (j for j in tried if (row := mixed(b, j)) is not None and is_it(row))
            found.append(next(fits, -1))
        if -1 not in found and found != list(old):
            return _told(words, found, list(old), len(before))
    return ""


def _told(words: str, found: list[int], old: list[int], rows: int) -> str:
    stay, other, in_place = np.arange(rows), np.arange(rows), np.arange(rows)
    if len(old) == rows:
        other[old] = np.arange(rows)
        for b, j in enumerate(old):
            in_place[b] = in_place[j]
    of = "what it holds" if words == "past" else f"its {words}"
    if found == stay[: len(found)].tolist():
        return f"every row keeps {of} where it should take that of row {', '.join(map(str, old))}"
    if found == other.tolist():
        return f"the order {old} is taken the other way round: {of} goes from row i to row order[i]"
    if found == in_place.tolist():
        return (
            f"rows are moved one after the other in place: {of} is taken from a row that was replaced before"
        )
    b = next(b for b, j in enumerate(found) if j != old[b])
    return f"row {b} goes on with the {words} of row {found[b]}, not of row {old[b]}"


def _single(
    rows: Sequence[Is], wanted: Sequence[Row], before: Sequence[Row], old: Sequence[int],
    others: Sequence[Row], new: Sequence[int], b: int,
) -> str:  # fmt: skip
    """What one wrong row is."""
    is_it, own = rows[b], wanted[b]
    told = _cut_otherwise(is_it, own, before[old[b]], new[b])
    those = [(f"row {j}", row) for j, row in enumerate(wanted) if j != b]
    those += [(f"row {j} of the other cache", row) for j, row in enumerate(others)]
    told = told or instead(is_it, own, those, own[0].shape[1] - new[b])
    return f"row {b}: {told}" if told else ""


def instead(is_it: Is, own: Row, those: Sequence[tuple[str, Row]], kept: int) -> str:
    """What a wrong row is, as a clause; empty where nothing usual is it.

    Args:
        is_it: Whether the row is some tokens.
        own: What it should be.
        those: Other rows that it may have been mixed up with, by name.
        kept: How many of its tokens were there before the newest.
    """
    tokens = own[0].shape[1]
    for name, row in those:
        for first, last in _spans(tokens, row[0].shape[1]):
            k, v = (
                np.concatenate([x[:, :first], y[:, first:last], x[:, last:]], axis=1)
                for x, y in zip(own, row, strict=True)
            )
            if is_it((k, v)):
                return f"{_which(first, last)} what {name} was fed"
    return _parts(is_it, own) or _empty(is_it, own, kept)


def _cut_otherwise(is_it: Is, own: Row, was: Row, new: int) -> str:
    """Whether fewer of its tokens are gone than should be, or more; empty slots may be taken for others."""
    kept = own[0].shape[1] - new
    for many in range(was[0].shape[1], -1, -1):
        are = "is" if abs(kept - many) == 1 else "are"
        if many < kept and is_it(_behind((was[0][:, :many], was[1][:, :many]), own, new)):
            return f"{kept - many} of its tokens that should stay {are} gone"
        for empty in range(_EMPTY + 1 if many > kept else 0):
            k, v = (np.pad(x[:, :many], ((0, 0), (0, empty), (0, 0))) for x in was)
            if is_it(_behind((k, v), own, new)):
                slots = f", and {empty} empty slot{'s' * (empty > 1)} behind them" if empty else ""
                return f"{many - kept} of its tokens that should be gone {are} still there{slots}"
    return ""


def _which(first: int, last: int) -> str:
    return f"its token {first} is" if last == first + 1 else f"its tokens {first} to {last - 1} are"


def _parts(is_it: Is, own: Row) -> str:
    """Tokens of one row that are zeros, or left out."""
    tokens = own[0].shape[1]
    for first, last in _spans(tokens, tokens):
        for words, which in (("", (0, 1)), ("keys", (0,)), ("values", (1,))):
            both = [x.copy() for x in own]
            for i in which:
                both[i][:, first:last] = 0.0
            if is_it((both[0], both[1])):
                told = _which(first, last)
                where = f"the {words} of {told.removesuffix(' is').removesuffix(' are')} are"
                return f"{where if words else told} zeros"
        k, v = (np.delete(x, slice(first, last), axis=1) for x in own)
        if last - first < tokens and is_it((k, v)):
            return f"{_which(first, last)} left out"
    return ""


def _empty(is_it: Is, own: Row, kept: int) -> str:
    """Slots that hold nothing among the tokens of one row."""
    for many in range(1, _EMPTY + 1):
        many_are = f"{many} empty slot{'s' * (many > 1)} {'are' if many > 1 else 'is'}"
        for words, at in (("behind its past", kept), ("in front of it", 0), ("behind it", own[0].shape[1])):
            k, v = (np.insert(x, [at] * many, 0.0, axis=1) for x in own)
            if is_it((k, v)):
                return f"{many_are} taken for tokens {words}"
    return ""


def _spans(tokens: int, other: int) -> Iterator[tuple[int, int]]:
    """Runs of tokens, the shortest first, and of those the newest."""
    most = min(tokens, other)
    for many in range(1, most + 1):
        yield from ((first, first + many) for first in range(most - many, -1, -1))


def _behind(past: Row, own: Row, new: int) -> Row:
    """A past, and the newest tokens of a row behind it."""
    tokens = own[0].shape[1]
    k, v = (np.concatenate([x, y[:, tokens - new :]], axis=1) for x, y in zip(past, own, strict=True))
    return k, v
