"""Conditions of a source that name sizes of several axes: at these together its code may go wrong.

A template for one vocabulary and one K, a table of tuned shapes: each of its sizes is tried by itself often
enough, and the path is never taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from judge_tui.checks.cuda import conditions as cuda
from judge_tui.checks.cuda.grammar import parse
from judge_tui.checks.faults import Skipped
from judge_tui.checks.joined import Bound, Condition, solved
from judge_tui.checks.python_conditions import conjunctions
from judge_tui.checks.source_integers import CUDA, MOST, MOST_FILES, is_beside
from judge_tui.checks.sources import is_side_program, parsed
from judge_tui.checks.submission import Submission

__all__ = ["conditions", "singles"]

#: Conjunctions of one file that are looked at.
_MOST_READ = 20_000


def conditions(submission: Submission) -> tuple[Condition, ...]:
    """The conditions about two sizes and more, each combination once, where it stands first."""
    found: dict[frozenset[tuple[str, int]], Condition] = {}
    names = [name for name in submission.files if not is_side_program(name)]
    for name in names[:MOST_FILES]:
        for bounds, line in _read(name, submission.read_bytes(name)):
            sizes = tuple((one, size) for one, size in solved(bounds) if size <= MOST)
            if len(sizes) > 1:
                exact = all(bound.sign == "==" for bound in bounds)
                found.setdefault(frozenset(sizes), Condition(sizes, name, line, exact))
    return tuple(found.values())


def singles(submission: Submission) -> tuple[Condition, ...]:
    """Conditions about one size alone, ``D == 256``, which sizes about it miss; each once."""
    found: dict[tuple[str, int], Condition] = {}
    names = [name for name in submission.files if not is_side_program(name)]
    for name in names[:MOST_FILES]:
        for bounds, line in _read(name, submission.read_bytes(name)):
            for bound in bounds:
                if bound.sign == "==" and 0 < bound.value <= MOST and "*" not in bound.name:
                    at = bound.name, bound.value
                    found.setdefault(at, Condition((at,), name, line, True))
    return tuple(found.values())


def _read(name: str, data: bytes) -> Iterator[tuple[tuple[Bound, ...], int]]:
    # what is no code has no conditions, and other checks say so
    with suppress(SyntaxError, Skipped):
        read: Iterator[tuple[tuple[Bound, ...], int]] = iter(())
        if name.endswith(".py"):
            read = conjunctions(parsed(data), is_beside)
        elif name.endswith(CUDA):
            read = cuda.conjunctions(parse(data))
        for _, one in zip(range(_MOST_READ), read, strict=False):
            yield one
