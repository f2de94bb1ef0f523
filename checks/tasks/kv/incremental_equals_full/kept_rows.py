"""Rows that a cache keeps, between two looks at its arrays."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slots import Kept, slots
from judge_tui.checks.tasks.kv.words.misplaced import misplaced

__all__ = ["moved"]

Array = npt.NDArray[Any]
#: What stored rows may differ by, whether they came in with a prompt or one by one.
_SAME = 1e-4


def moved(shape: Shape, empty: Kept, got: Kept, truth: Kept, tokens: int) -> str:
    """What :func:`misplaced` says of the first array of keys or values that differs; empty where none does.

    Args:
        shape: Heads, and their width.
        empty: The arrays before anything was fed.
        got: The arrays, for a batch of one.
        truth: What they are held against, by the same paths.
        tokens: How many both have stored.
    """
    for path, held in truth.items():
        if path not in got or (path in empty and _same(empty[path][1], held[1])):
            continue
        ours, theirs = (slots({}, {path: one}, shape, tokens) for one in (got[path], held))
        for one, other in zip(ours, theirs, strict=False):
            if told := misplaced(one.seen[None, :, :tokens], other.seen[None, :, :tokens], _SAME):
                return told
    return ""


def _same(before: Array, after: Array) -> bool:
    return before.shape == after.shape and bool((before == after).all())
