"""Who won against whom, as boxes with counts: the more of it, the stronger their colour."""

from __future__ import annotations

from judge_tui.judging.summaries.parts import Matrix
from judge_tui.reports.drawings.canvas import WIDTH, Canvas, fit, wide

__all__ = ["draw_matrix"]

#: Pixels: of names at most, of a box across at most and down, and above the boxes.
_NAMES, _WIDEST, _HIGH, _HEAD = 120, 60, 38, 20
#: Opacity of a box, at least and on top of that for all that was won.
_FAINT, _SPAN = 0.06, 0.44


def draw_matrix(canvas: Canvas, plot: Matrix) -> float:
    """Draw it; columns are named by the numbers of the rows.

    Returns:
        Height of the drawing in pixels.
    """
    rows = [f"{place} {name}" for place, name in enumerate(plot.names, 1)]
    names = min(max(map(wide, rows)), _NAMES) + 10
    across = min((WIDTH - names) / len(rows), _WIDEST)
    for at, row in enumerate(rows):
        middle = names + across * (at + 0.5)
        canvas.text(middle, _HEAD - 7, str(at + 1), "axis", "middle")
        canvas.text(0, _HEAD + _HIGH * at + _HIGH / 2 + 4, fit(row, names - 8))
        for to in range(len(rows)):
            _box(canvas, plot, (at, to), (names + across * to, _HEAD + _HIGH * at), across)
    return _HEAD + _HIGH * len(rows) + 2


def _box(
    canvas: Canvas, plot: Matrix, cell: tuple[int, int], corner: tuple[float, float], across: float
) -> None:
    (at, to), (x, y) = cell, corner
    won, tied, lost = plot.wins[at][to], plot.ties[at][to], plot.wins[to][at]
    every = won + tied + lost
    if at == to or not every:
        canvas.box(x + 1, y + 1, across - 2, _HIGH - 2, "empty")
        canvas.text(x + across / 2, y + _HIGH / 2 + 4, "·", "axis", "middle")
        return
    canvas.box(x + 1, y + 1, across - 2, _HIGH - 2, "series s1", _FAINT + _SPAN * (won + tied / 2) / every)
    canvas.text(x + across / 2, y + _HIGH / 2 + (-2 if tied else 4), str(won), "figure", "middle")
    if tied:
        said = f"{tied} tie{'s' * (tied != 1)}"
        shown = said if wide(said) <= across else f"+{tied}"
        canvas.text(x + across / 2, y + _HIGH / 2 + 13, shown, "label", "middle")
