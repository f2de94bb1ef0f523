"""Curves as text: braille dots in a box, logarithmic where the curve asks for it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judge_tui.checks.verdict import Curve

__all__ = ["plot"]

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def plot(curve: Curve, width: int = 60, height: int = 8) -> list[str]:
    """Draw a curve.

    Args:
        curve: Its points.
        width: Columns of the drawing, labels not counted.
        height: Rows of the drawing.

    Returns:
        Lines of text; a sentence when nothing can be drawn.
    """
    points = [
        (x, y)
        for x, y in curve.points
        if y is not None and _drawable(x, curve.log_x) and _drawable(y, curve.log_y)
    ]
    left_out = len(curve.points) - len(points)
    if not points:
        return ["no finite point to draw"]
    xs = _scaled([x for x, _ in points], curve.log_x)
    ys = _scaled([y for _, y in points], curve.log_y)
    cells = [[0] * width for _ in range(height)]
    for (x0, y0), (x1, y1) in zip(
        zip(xs, ys, strict=True), [*zip(xs, ys, strict=True)][1:] or [(xs[0], ys[0])], strict=False
    ):
        _segment(cells, x0, y0, x1, y1)
    labels = [_number(max(y for _, y in points)), *[""] * (height - 2), _number(min(y for _, y in points))]
    wide = max(map(len, labels))
    lines = [
        f"{label:>{wide}} ┤{''.join(chr(0x2800 + c) for c in row)}"
        for label, row in zip(labels, cells, strict=True)
    ]
    first, last = _number(min(x for x, _ in points)), _number(max(x for x, _ in points))
    lines.append(" " * wide + " └" + "─" * width)
    gap = max(width - len(first) - len(last), 1)
    lines.append(" " * (wide + 2) + first + " " * gap + last)
    scale = [name for name, on in ((curve.x, curve.log_x), (curve.y, curve.log_y)) if on]
    tail = f" (logarithmic: {', '.join(scale)})" if scale else ""
    lines.append(" " * (wide + 2) + f"{curve.y} over {curve.x}{tail}")
    if left_out:
        lines.append(
            " " * (wide + 2) + f"{left_out} points are not finite, or not positive on a logarithmic scale"
        )
    return lines


def _drawable(value: float, log: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not log)


def _scaled(values: Sequence[float], log: bool) -> list[float]:
    """Values in 0…1."""
    taken = [math.log10(v) if log else v for v in values]
    low, high = min(taken), max(taken)
    return [0.5 if high == low else (v - low) / (high - low) for v in taken]


def _segment(cells: list[list[int]], x0: float, y0: float, x1: float, y1: float) -> None:
    across, down = len(cells[0]) * 2 - 1, len(cells) * 4 - 1
    steps = max(round(abs(x1 - x0) * across), round(abs(y1 - y0) * down), 1)
    for step in range(steps + 1):
        share = step / steps
        column = round((x0 + (x1 - x0) * share) * across)
        row = down - round((y0 + (y1 - y0) * share) * down)
        cells[row // 4][column // 2] |= _DOTS[row % 4][column % 2]


def _number(value: float) -> str:
    return f"{value:.3g}"
