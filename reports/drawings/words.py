"""What a plot shows, in words: for readers who do not see it, and where no picture is shown."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.judging.summaries.parts import Bars, Curves, Intervals, Matrix, Plot, Trace
from judge_tui.reports.drawings.scales import short

__all__ = ["described", "rounded", "signed", "ticked"]


def rounded(value: float) -> str:
    """A score for a reader: one decimal where it has any."""
    text = f"{value:.1f}".removesuffix(".0")
    return text.replace("-", "−")


def signed(value: float) -> str:
    """A figure on either side of zero, its sign always there."""
    text = f"{value:+.2f}"
    return text.replace("-", "−") if float(text) else "0"


def ticked(value: float) -> str:
    """Such a figure beside an axis, without zeros that say nothing."""
    return signed(value).rstrip("0").rstrip(".") or "0"


def described(plot: Plot) -> str:
    """The figures of a plot, as sentences."""
    if isinstance(plot, Bars):
        return " ".join(_bars(plot))
    if isinstance(plot, Intervals):
        told = "; ".join(
            f"{mark.name} {signed(mark.value)}, from {signed(mark.low)} to {signed(mark.high)}"
            for mark in plot.marks
        )
        return f"{plot.axis.said}: {told}."
    if isinstance(plot, Curves):
        return f"{plot.y.said} over {plot.x.said}. " + " ".join(map(_trace, plot.traces))
    return " ".join(_wins(plot))


def _bars(plot: Bars) -> Iterable[str]:
    yield f"{plot.axis.said}."
    for group in plot.groups:
        told = ", ".join(
            f"{name} {'none' if value is None else rounded(value)}"
            for name, value in zip(plot.names, group.values, strict=True)
        )
        yield f"{group.name}: {told}."


def _trace(trace: Trace) -> str:
    there = [(x, y) for x, y in trace.points if y is not None]
    if not there:
        return f"{trace.name}: no finite figure."
    (x, y), (last, end) = there[0], there[-1]
    return f"{trace.name}: {short(y)} at {short(x)}, {short(end)} at {short(last)}, {len(there)} points."


def _wins(plot: Matrix) -> Iterable[str]:
    for at, name in enumerate(plot.names):
        told = [
            f"{plot.wins[at][to]} against {other}" + (f", {tied} tied" if (tied := plot.ties[at][to]) else "")
            for to, other in enumerate(plot.names)
            if to != at and plot.wins[at][to] + plot.ties[at][to]
        ]
        yield f"{name} won {'; '.join(told)}." if told else f"{name} won none."
