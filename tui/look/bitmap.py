"""A small picture of a curve: pixels of few colours, drawn by the standard library alone."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Bitmap", "drawn"]

Colour = tuple[int, int, int]
#: Numbers of the colours of a plot.
_GROUND, _GRID, _LINE = range(3)


class Bitmap:
    """Pixels by the number of their colour.

    Args:
        width: Pixels across.
        height: Pixels down.
        palette: The colours; the first is the ground's.
    """

    def __init__(self, width: int, height: int, palette: Sequence[Colour]) -> None:
        self.width, self.height, self.palette = width, height, tuple(palette)
        self.rows = [bytearray(width) for _ in range(height)]

    def block(self, x: int, y: int, size: int, colour: int) -> None:
        """A square around a pixel, as far as it is within the picture."""
        first = x - size // 2
        left, right = max(first, 0), min(first + size, self.width)
        if right > left:
            for row in range(max(y - size // 2, 0), min(y - size // 2 + size, self.height)):
                self.rows[row][left:right] = bytes((colour,)) * (right - left)

    def line(self, begin: tuple[int, int], end: tuple[int, int], size: int, colour: int) -> None:
        """A line so many pixels thick."""
        (x0, y0), (x1, y1) = begin, end
        steps = max(abs(x1 - x0), abs(y1 - y0), 1)
        for step in range(steps + 1):
            self.block(
                round(x0 + (x1 - x0) * step / steps), round(y0 + (y1 - y0) * step / steps), size, colour
            )


def drawn(
    shares: Sequence[tuple[float, float]],
    across: Sequence[float],
    up: Sequence[float],
    size: tuple[int, int],
    colours: tuple[Colour, Colour, Colour],
    cell: tuple[int, int] = (1, 1),
) -> Bitmap:
    """A curve in its grid.

    Args:
        shares: Its points as shares of both axes, from the lower left corner.
        across: Shares at which upright lines of the grid stand.
        up: Shares at which level ones do.
        size: Pixels across and down.
        colours: Of the ground, the grid and the curve.
        cell: Pixels of a character: an axis goes from the middle of one to that of another, as its labels do.
    """
    width, height = size
    bitmap = Bitmap(width, height, colours)

    def place(x: float, y: float) -> tuple[int, int]:
        shares = zip((x, 1 - y), size, cell, strict=True)
        column, row = (round((one - 1) / 2 + share * (whole - one)) for share, whole, one in shares)
        return column, row

    for share in across:
        x, _ = place(share, 0)
        bitmap.line((x, 0), (x, height - 1), 1, _GRID)
    for share in up:
        _, y = place(0, share)
        bitmap.line((0, y), (width - 1, y), 1, _GRID)
    thick = max(height // 150, 2)
    places = [place(*point) for point in shares]
    for begin, end in zip(places, [*places[1:], places[-1]] if places else [], strict=True):
        bitmap.line(begin, end, thick, _LINE)
        bitmap.block(*begin, thick * 3, _LINE)
    return bitmap
