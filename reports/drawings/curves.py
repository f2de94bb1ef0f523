"""Curves over one parameter, each with marks of its own shape."""

from __future__ import annotations

from collections.abc import Iterator

from judge_tui.judging.summaries.parts import Axis, Curves, Trace
from judge_tui.reports.drawings.canvas import WIDTH, Canvas, fit, wrapped
from judge_tui.reports.drawings.scales import Scale, drawable, scale_of, short

__all__ = ["draw_curves"]

#: Pixels: left of the plot, right of it, its height, and a line of text.
_LEFT, _RIGHT, _HIGH, _LINE = 52, 12, 190, 16
#: So many points at most get marks.
_MARKED = 24
_Place = tuple[float, float]
_SHAPES: tuple[tuple[_Place, ...], ...] = (
    (),
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5), (5, 4), (-5, 4)),
    ((0, -6), (5, 0), (0, 6), (-5, 0)),
    ((0, 5), (5, -4), (-5, -4)),
    ((-5, -2), (5, -2), (5, 2), (-5, 2)),
)


def draw_curves(canvas: Canvas, plot: Curves) -> float:
    """Draw them.

    Returns:
        Height of the drawing in pixels.
    """
    y = 0.0
    for line in wrapped(_said(plot.y), WIDTH):
        y += _LINE
        canvas.text(0, y - 4, line, "axis")
    top, bottom = y + 10, y + 10 + _HIGH
    there = [point for trace in plot.traces for run in _runs(trace, plot) for point in run]
    across = scale_of(plot.x, [x for x, _ in there], _LEFT, WIDTH - _RIGHT)
    up = scale_of(plot.y, [value for _, value in there], bottom, top)
    _frame(canvas, across, up)
    for place, trace in enumerate(plot.traces):
        _trace(canvas, place, trace, plot, (across, up))
    y = bottom + 18
    for line in wrapped(_said(plot.x), WIDTH - _LEFT):
        y += _LINE
        canvas.text((_LEFT + WIDTH) / 2, y, line, "axis", "middle")
    for place, trace in enumerate(plot.traces):
        y += _LINE + 2
        canvas.path([(0, y - 4), (30, y - 4)], f"curve s{place % 6 + 1}")
        _mark(canvas, 15, y - 4, place)
        canvas.text(38, y, fit(trace.name, WIDTH - 40))
    return y + 8


def _said(axis: Axis) -> str:
    return f"{axis.said}, logarithmic" if axis.log else axis.said


def _runs(trace: Trace, plot: Curves) -> Iterator[list[_Place]]:
    """Points that follow each other; a curve is broken where one cannot be drawn."""
    run: list[_Place] = []
    for x, y in trace.points:
        if y is not None and drawable(x, plot.x) and drawable(y, plot.y):
            run.append((x, y))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _frame(canvas: Canvas, across: Scale, up: Scale) -> None:
    for tick in up.ticks():
        canvas.line((across.start, up.at(tick)), (across.end, up.at(tick)), "grid")
        canvas.text(across.start - 6, up.at(tick) + 4, short(tick), "axis", "end")
    for tick in across.ticks():
        canvas.line((across.at(tick), up.start), (across.at(tick), up.end), "grid")
        canvas.text(across.at(tick), up.start + 15, short(tick), "axis", "middle")
    corner = (across.start, up.start)
    canvas.path([(across.start, up.end), corner, (across.end, up.start)], "frame")


def _trace(canvas: Canvas, place: int, trace: Trace, plot: Curves, scales: tuple[Scale, Scale]) -> None:
    across, up = scales
    every = max(len(trace.points) // _MARKED, 1)
    for run in _runs(trace, plot):
        way = [(across.at(x), up.at(y)) for x, y in run]
        canvas.path(way, f"curve s{place % 6 + 1}")
        for x, y in way[::every]:
            _mark(canvas, x, y, place)


def _mark(canvas: Canvas, x: float, y: float, place: int) -> None:
    shape = _SHAPES[place % len(_SHAPES)]
    kind = f"series s{place % 6 + 1}"
    if shape:
        canvas.path([(x + dx, y + dy) for dx, dy in shape], kind, closed=True)
    else:
        canvas.circle(x, y, 4, kind)
