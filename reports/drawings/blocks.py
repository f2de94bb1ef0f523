"""Plots as lines of block characters, for what shows letters alone."""

from __future__ import annotations

from collections.abc import Iterator

from judge_tui.judging.summaries.parts import Axis, Bars, Intervals
from judge_tui.reports.drawings.scales import scale_of
from judge_tui.reports.drawings.words import rounded, signed

__all__ = ["bar_lines", "interval_lines"]

#: Letters of a bar, and between the ends of an axis.
_BAR, _ACROSS = 25, 40
_EIGHTHS = " ▏▎▍▌▋▊▉"


def bar_lines(plot: Bars) -> Iterator[str]:
    """Groups of bars, each with its name and its figure."""
    names = max(map(len, plot.names), default=0)
    values = [value for group in plot.groups for value in group.values if value is not None]
    scale = scale_of(plot.axis, values or [0.0], 0, _BAR)
    for group in plot.groups:
        yield group.name
        for name, value in zip(plot.names, group.values, strict=True):
            bar = "" if value is None else _bar(scale.at(value))
            yield f"  {name:<{names}}  {bar:<{_BAR}}  {'–' if value is None else rounded(value)}"


def _bar(length: float) -> str:
    whole, part = divmod(round(max(length, 0) * 8), 8)
    return "█" * whole + (_EIGHTHS[part] if part else "")


def interval_lines(plot: Intervals) -> Iterator[str]:
    """Rows of intervals around a line at zero."""
    names = max(len(mark.name) for mark in plot.marks)
    ends = [end for mark in plot.marks for end in (mark.low, mark.high)]
    scale = scale_of(Axis("", low=0.0), ends, 0, _ACROSS)
    zero = round(scale.at(0.0))
    for mark in plot.marks:
        row = [" "] * (_ACROSS + 1)
        row[zero] = "┊"
        low, high = round(scale.at(mark.low)), round(scale.at(mark.high))
        row[low : high + 1] = "─" * (high - low + 1)
        if low <= zero <= high:
            row[zero] = "┼"
        row[low], row[high] = "├", "┤"
        row[round(scale.at(mark.value))] = "●"
        yield f"{mark.name:<{names}}  {''.join(row)}  {signed(mark.value)}"
    below = [" "] * (_ACROSS + 1)
    below[zero] = "0"
    yield f"{'':<{names}}  {''.join(below)}".rstrip()
