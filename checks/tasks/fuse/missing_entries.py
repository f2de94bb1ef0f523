"""A wrong row as it is: how many of the K largest are missing, and what stands in their places."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from judge_tui.checks.tasks.fuse.answered_rows import Indices, Row

__all__ = ["as_it_is"]


def as_it_is(rows: Iterable[Row]) -> str:
    """The first wrong row in words, where nothing is known of it; empty where all are right.

    Args:
        rows: Of all launches.
    """
    row = next((row for row in rows if not row.right), None)
    if row is None:
        return ""
    if not len(row.missing):
        if (row.picked[1:] >= row.picked[:-1]).all():
            return "the K largest are all there, smallest first"
        if (np.diff(row.indices) > 0).all():
            return "the K largest are all there, in the order of their places in the row"
        place = int(np.argmax(row.picked[1:] > row.picked[:-1])) + 1
        count = int((row.picked != row.logits[row.order]).sum())
        return (
            f"the K largest are all there, but not in order: {count} stand elsewhere, from place {place} on"
        )
    ranks = np.flatnonzero(np.isin(row.order, row.missing))
    where = f"{_listed('rank', ranks + 1)}, {_listed('index', row.missing)}"
    are = "is" if len(ranks) == 1 else "are"
    return f"of the {row.count} largest {len(ranks)} {are} missing ({where}), {_stands(row)}"


def _listed(word: str, numbers: Indices) -> str:
    plural = {"index": "indices", "rank": "ranks"}[word]
    shown = ", ".join(f"{number}" for number in sorted(numbers)[:5]) + (", …" if len(numbers) > 5 else "")
    return f"{word} {shown}" if len(numbers) == 1 else f"{plural} {shown}"


def _stands(row: Row) -> str:
    """What stands in the places of what is missing."""
    ranked = np.sort(row.logits)[::-1]
    left = np.sort(np.delete(row.logits, row.missing))[::-1][: row.count]
    if (np.sort(row.picked)[::-1] == left).all():
        return "the next smaller ones stand for them"
    rank = int(np.searchsorted(-ranked, -row.picked.min())) + 1
    return f"logits down to the {rank}th largest stand for them"
