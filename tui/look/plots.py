"""Curves as text: braille dots between axes with their values; stars where a terminal has no such dots."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.checks.verdict import Curve
from judge_tui.tui.look.axes import Axis, drawable, short
from judge_tui.tui.look.bars import plain_characters

__all__ = ["Plane", "plot"]

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
#: Columns that a label of the lower axis takes, and rows between two of the upright one.
_LABEL, _APART = 12, 2
#: The upright axis with a value and without, the corner, the lower one without and with a value.
_SIGNS, _PLAIN_SIGNS = tuple("┤│└─┬"), tuple("+|+-+")


class Plane:
    """A curve's finite points and the axes around them.

    Args:
        curve: The curve.
    """

    def __init__(self, curve: Curve) -> None:
        self.curve = curve
        self.points: list[tuple[float, float]] = [
            (x, y)
            for x, y in curve.points
            if y is not None and drawable(x, log=curve.log_x) and drawable(y, log=curve.log_y)
        ]
        self.left_out = len(curve.points) - len(self.points)
        self.across = Axis.over([x for x, _ in self.points] or [1.0], log=curve.log_x)
        self.up = Axis.over([y for _, y in self.points] or [1.0], log=curve.log_y)

    @property
    def shares(self) -> list[tuple[float, float]]:
        """The points as shares of both axes, from the lower left corner."""
        return [(self.across.at(x), self.up.at(y)) for x, y in self.points]

    def labels(self, height: int) -> list[str]:
        """What stands beside each row of a drawing, from the top."""
        found = [""] * height
        for value in self.up.ticks(max(height // _APART, 2)):
            found[height - 1 - round(self.up.at(value) * (height - 1))] = short(value)
        return found

    def below(self, width: int) -> tuple[set[int], str]:
        """Where the lower axis has values, and the line with them."""
        marks: set[int] = set()
        line = ""
        for value in self.across.ticks(max(width // _LABEL, 2)):
            column, text = round(self.across.at(value) * (width - 1)), short(value)
            begin = min(max(column - len(text) // 2, 0), max(width - len(text), 0))
            if begin >= len(line) + (1 if line else 0):
                line = f"{line:<{begin}}{text}"
                marks.add(column)
        return marks, line

    @property
    def upright(self) -> str:
        """What the upright axis says."""
        return f"{self.curve.y}{' (logarithmic)' if self.curve.log_y else ''}"

    @property
    def lower(self) -> str:
        """What the lower axis says."""
        return f"{self.curve.x}{' (logarithmic)' if self.curve.log_x else ''}"

    @property
    def missing(self) -> str:
        """That points are left out; nothing where none are."""
        if not self.left_out:
            return ""
        many = f"{self.left_out} points are" if self.left_out > 1 else "1 point is"
        return f"{many} not finite, or not positive on a logarithmic scale"


def plot(curve: Curve, width: int = 60, height: int = 8, *, drawn: bool = True) -> list[str]:
    """Draw a curve.

    Args:
        curve: Its points.
        width: Columns of the drawing, labels not counted.
        height: Rows of the drawing.
        drawn: Whether the curve itself is drawn; else its place is left free.

    Returns:
        Lines of text; a sentence when nothing can be drawn.
    """
    plane = Plane(curve)
    if not plane.points:
        return ["no finite point to draw"]
    rows = _drawing(plane.shares, width, height) if drawn else [" " * width] * height
    upright, rule, corner, line, mark = _PLAIN_SIGNS if plain_characters() else _SIGNS
    labels = plane.labels(height)
    wide = max(map(len, labels))
    margin = " " * (wide + 2)
    marks, below = plane.below(width)
    return [
        f"{' ' * wide} {plane.upright}",
        *(
            f"{label:>{wide}} {upright if label else rule}{row}"
            for label, row in zip(labels, rows, strict=True)
        ),
        f"{' ' * wide} {corner}{''.join(mark if column in marks else line for column in range(width))}",
        f"{margin}{below}",
        f"{margin}{plane.lower:>{width}}",
        *([f"{margin}{plane.missing}"] if plane.missing else []),
    ]


def _drawing(shares: Sequence[tuple[float, float]], width: int, height: int) -> list[str]:
    """The curve in rows of characters, from the top."""
    plain = plain_characters()
    across, down = (1, 1) if plain else (2, 4)
    dots = [[False] * (width * across) for _ in range(height * down)]
    for (x0, y0), (x1, y1) in zip(shares, [*shares[1:], shares[-1]], strict=True):
        _segment(dots, x0, y0, x1, y1)
    if plain:
        return ["".join("*" if dot else " " for dot in row) for row in dots]
    return [
        "".join(
            chr(0x2800 + sum(_DOTS[r][c] for r in range(4) for c in range(2) if dots[y * 4 + r][x * 2 + c]))
            for x in range(width)
        )
        for y in range(height)
    ]


def _segment(dots: list[list[bool]], x0: float, y0: float, x1: float, y1: float) -> None:
    across, down = len(dots[0]) - 1, len(dots) - 1
    steps = max(round(abs(x1 - x0) * across), round(abs(y1 - y0) * down), 1)
    for step in range(steps + 1):
        share = step / steps
        column = round((x0 + (x1 - x0) * share) * across)
        dots[down - round((y0 + (y1 - y0) * share) * down)][column] = True
