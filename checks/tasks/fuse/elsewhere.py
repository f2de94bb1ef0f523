"""Indices of another row, of logits that begin elsewhere, or that are shifted."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.answered_rows import Indices, Row
from judge_tui.checks.tasks.fuse.readings import UNITS, Reading

__all__ = ["READINGS", "out_of_range"]

#: What indices may be kept modulo besides.
_WRAPPED = tuple(1 << bit for bit in (13, 14, 15, 16))


def _of_other_rows(row: Row) -> set[Hashable]:
    if row.right or len(row.launch) < 2:
        return {"another"} if row.right else set()
    found: set[Hashable] = set()
    for other, logits in enumerate(row.launch):
        top = np.argsort(-logits, kind="stable")[: row.count]
        if other != row.number and (top == row.indices).all():
            found |= {"another", other - row.number}
    return found


def _other_words(one: Hashable) -> str:
    if not isinstance(one, int):
        return "a row is given another row's indices"
    way = "behind" if one > 0 else "before"
    return f"a row is given the indices of the row {abs(one)} {way} it"


_STARTS: dict[str, Callable[[int, int], int]] = {
    "as if each had V rounded down to a multiple of four": lambda row, V: row * (V // 4 * 4),
    "as if each had V rounded up to a multiple of four": lambda row, V: row * (-(-V // 4) * 4),
    "at the 16-byte boundary in front of its start": lambda row, V: row * V // 4 * 4,
    "at the 16-byte boundary behind its start": lambda row, V: -(-row * V // 4) * 4,
}


def _from_elsewhere(row: Row) -> set[Hashable] | None:
    """Where else the logits begin that are taken for the row's."""
    V, flat = len(row.logits), row.launch.reshape(-1)
    found: set[Hashable] = set()
    for words, start in _STARTS.items():
        read = flat[start(row.number, V) :][:V]
        order = np.argsort(-read, kind="stable")[: row.count]
        if len(read) < V or (read[row.indices] == read[order]).all():
            found.add(words)
    return found


def _start_words(one: Hashable) -> str:
    return f"rows are read {one}"


def out_of_range(logits: npt.NDArray[np.float32], indices: Indices, number: int) -> str:
    """What indices of which some are out of range are instead, as a clause; empty when unknown.

    Args:
        logits: The row (V,).
        indices: (K,).
        number: Of the row in its launch.
    """
    V, wanted = len(logits), np.sort(logits)[::-1][: len(indices)]
    if len(indices) > 1 and (indices == -1).all():
        # in a row of equal logits any shift would fit
        return "nothing is chosen: they are all the same"
    for off, one in ((number * V, "start"), (1, 1), (-1, -1)):
        moved = indices - off
        if off and ((moved >= 0) & (moved < V)).all() and (logits[np.clip(moved, 0, V - 1)] == wanted).all():
            return _shift_words(one)
    return ""


def _shifted(row: Row) -> set[Hashable] | None:
    """A number that is added to every index, some of which may be right, or to a row's start."""
    off = row.indices - row.order
    if (np.diff(np.sort(row.logits)[::-1][: row.count + 1]) == 0).any():
        return None
    found: set[Hashable] = set()
    aligned = row.edge
    values = set(off.tolist())
    if values <= {0, -aligned}:
        found.add("boundary")
    if values <= {0, aligned}:
        found.add("boundary, above")
    if len(values) == 1 and 0 not in values:
        found |= values
    found |= {("modulo", unit) for unit in (*UNITS, *_WRAPPED) if (row.indices == row.order % unit).all()}
    return found


_SHIFTS = {
    "start": "each index counts from the first row's start (row · V is in it)",
    "boundary": "indices are too small by what lies in front of a row's first 16-byte boundary",
    "boundary, above": "indices are too large by what lies in front of a row's first 16-byte boundary",
}


def _shift_words(one: Hashable) -> str:
    if isinstance(one, tuple):
        told = f"each index is given modulo {one[1]}"
    else:
        told = _SHIFTS.get(str(one), f"each index is {one} off")
    return f"the right entries are found, but {told}"


def _likelier_shift(one: Hashable) -> tuple[int, int]:
    if isinstance(one, tuple):
        return 2, -int(one[1])
    return (1, abs(one)) if isinstance(one, int) else (0, 0)


def _likelier_row(one: Hashable) -> tuple[bool, str]:
    return not isinstance(one, int), str(one)


READINGS: tuple[Reading, ...] = (
    Reading(_of_other_rows, _other_words, _likelier_row, sure=True),
    Reading(_shifted, _shift_words, _likelier_shift, sure=True),
    Reading(_from_elsewhere, _start_words, sure=True),
)
