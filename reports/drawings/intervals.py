"""Figures with their intervals, in rows around a line at zero."""

from __future__ import annotations

from judge_tui.judging.summaries.parts import Intervals
from judge_tui.reports.drawings.canvas import WIDTH, Canvas, fit, wide, wrapped
from judge_tui.reports.drawings.scales import scale_of
from judge_tui.reports.drawings.words import signed, ticked

__all__ = ["draw_intervals"]

#: Pixels: of a row, of names at most, of a figure, half of an interval's ends, and of a figure's mark.
_ROW, _NAMES, _FIGURE, _CAP, _MARK = 28, 110, 46, 5, 4


def draw_intervals(canvas: Canvas, plot: Intervals) -> float:
    """Draw them.

    Returns:
        Height of the drawing in pixels.
    """
    names = min(max(wide(mark.name) for mark in plot.marks), _NAMES) + 14
    ends = [end for mark in plot.marks for end in (mark.low, mark.high)]
    scale = scale_of(plot.axis, [0.0, *ends], names, WIDTH - _FIGURE)
    height = _ROW * len(plot.marks)
    for tick in scale.ticks():
        canvas.line((scale.at(tick), 0), (scale.at(tick), height), "grid" if tick else "zero")
        canvas.text(scale.at(tick), height + 14, ticked(tick), "axis", "middle")
    for place, mark in enumerate(plot.marks):
        y = _ROW * place + _ROW / 2
        low, high = scale.at(mark.low), scale.at(mark.high)
        canvas.text(0, y + 4, fit(mark.name, names - 12))
        canvas.line((low, y), (high, y), "whisker")
        for end in (low, high):
            canvas.line((end, y - _CAP), (end, y + _CAP), "whisker")
        canvas.circle(scale.at(mark.value), y, _MARK, "series s1")
        canvas.text(WIDTH, y + 4, signed(mark.value), "figure", "end")
    y = height + 18
    for line in wrapped(plot.axis.said, WIDTH):
        y += 14
        canvas.text(WIDTH / 2, y, line, "axis", "middle")
    return y + 6
