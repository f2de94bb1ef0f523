"""Masks in a buffer that earlier, larger masks left: rows are written at one pitch, and read at another."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from judge_tui.checks.tasks.dflash_verify.masks import Matrix

__all__ = ["mispitched"]

#: What a row's length may be rounded up to.
_UNITS = (1, 2, 4, 8, 16, 32, 64, 128)
#: Cells at least that are seen, should not be, and are what another row holds there.
_LEAST = 8
#: How many units a buffer's rows may have had at first.
_MOST = 32


def mispitched(masks: Sequence[tuple[Matrix, Matrix]]) -> str:
    """Whether rows of wrong masks stand at another pitch than they are read at, in words behind "as where".

    What a buffer holds beyond the rows of its newest mask is not known, and not looked at; nor is how large
    it was at first.

    Args:
        masks: What came and what is right, in the order in which they were built, (P + N, P + N) each.
    """
    wrong = [number for number, (came, right) in enumerate(masks) if not np.array_equal(came, right)]
    for unit in _UNITS if wrong else ():
        own = [_up(len(right), unit) for _, right in masks]
        begins = range(unit, _MOST * unit + 1, unit)
        for turned, begin in itertools.product((False, True), begins):
            largest = np.maximum.accumulate([begin, *own])[1:].tolist()
            pitches = list(zip(largest, own, strict=True) if turned else zip(own, largest, strict=True))
            # What is wrong shows the most, and in the least time.
            if _told([masks[at] for at in wrong], [pitches[at] for at in wrong]) and (
                told := _told(masks, pitches)
            ):
                return told
    return ""


def _told(masks: Sequence[tuple[Matrix, Matrix]], pitches: Sequence[tuple[int, int]]) -> str:
    """The same for pitches, written and read, of each mask."""
    shown, first = 0, ""
    for (came, right), (writes, reads) in zip(masks, pitches, strict=True):
        cells = _shown(came, right, writes, reads)
        if cells < 0:
            return ""
        shown += cells
        if not first and cells:
            first = f"the {len(right)} rows are written at a pitch of {writes} and read at one of {reads}"
    return f"{first}, a larger mask came before" if shown >= _LEAST else ""


def _up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _shown(came: Matrix, right: Matrix, writes: int, reads: int) -> int:
    """Cells that are seen, should not be, and come from another row; -1 where a known cell is another."""
    size = len(right)
    places = np.arange(size)[:, None] * reads + np.arange(size)[None, :]
    rows, columns = places // writes, places % writes
    known = (rows < size) & (columns < size)
    held = right[np.minimum(rows, size - 1), np.minimum(columns, size - 1)]
    if np.any(known & (held != came)):
        return -1
    return int(np.sum(known & came & ~right))
