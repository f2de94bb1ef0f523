"""Groups of bars, each with its name and its figure."""

from __future__ import annotations

from judge_tui.judging.summaries.parts import Bars
from judge_tui.reports.drawings.canvas import WIDTH, Canvas, fit, wide, wrapped
from judge_tui.reports.drawings.scales import scale_of
from judge_tui.reports.drawings.words import rounded

__all__ = ["draw_bars"]

#: Pixels: of a bar with its gap, of a bar, between groups, of names at most, and of a figure behind a bar.
_ROW, _THICK, _GAP, _NAMES, _FIGURE = 17, 11, 8, 120, 34


def draw_bars(canvas: Canvas, plot: Bars) -> float:
    """Draw them.

    Returns:
        Height of the drawing in pixels.
    """
    names = min(max(map(wide, plot.names), default=0), _NAMES) + 8
    values = [value for group in plot.groups for value in group.values if value is not None]
    scale = scale_of(plot.axis, values or [0.0], names, WIDTH - _FIGURE)
    y = 0.0
    grid: list[tuple[float, float]] = []
    for group in plot.groups:
        for line in wrapped(group.name, WIDTH):
            canvas.text(0, y + 12, line, "group")
            y += _ROW
        grid.append((y - 2, y + _ROW * len(plot.names) - 4))
        for place, (name, value) in enumerate(zip(plot.names, group.values, strict=True), 1):
            canvas.text(names - 6, y + 10, fit(name, names - 8), align="end")
            end = names if value is None else scale.at(value)
            canvas.box(names, y, max(end - names, 0), _THICK, f"series s{_colour(place)}")
            canvas.text(end + 4, y + 10, "–" if value is None else rounded(value), "figure")
            y += _ROW
        y += _GAP
    behind = Canvas()
    for tick in scale.ticks():
        for top, bottom in grid:
            behind.line((scale.at(tick), top), (scale.at(tick), bottom), "grid")
        canvas.text(scale.at(tick), y + 6, rounded(tick), "axis", "middle")
    canvas.marks[:0] = behind.marks
    canvas.text((names + WIDTH - _FIGURE) / 2, y + 24, plot.axis.said, "axis", "middle")
    return y + 30


def _colour(place: int) -> int:
    return (place - 1) % 6 + 1
