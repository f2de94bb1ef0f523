"""A bench for an edited submission, on which it is asked what the other was asked."""

from __future__ import annotations

from typing import TypeVar

from judge_tui.checks.bench import Bench
from judge_tui.checks.submission import Submission

__all__ = ["bench_of_edited"]

_Kind = TypeVar("_Kind", bound=Bench)


def bench_of_edited(bench: Bench, edited: Submission, kind: type[_Kind]) -> _Kind:
    """A bench on which roles are those that were found, and sizes are drawn as they were.

    Args:
        bench: Of the submission as it is.
        edited: The same with other texts in some of its files.
        kind: What kind of bench.
    """
    other = kind(edited, bench.contract, seed=bench.seed, mode=bench.mode, binds=bench)
    # an integer or a condition that is edited must not draw other sizes
    for drawing in ("integers", "products", "conditions"):
        other.__dict__[drawing] = getattr(bench, drawing)
    return other
