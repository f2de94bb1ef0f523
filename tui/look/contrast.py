"""How far a colour stands out from another, and colours that are moved until they do (WCAG 2.2, 1.4.3)."""

from __future__ import annotations

from collections.abc import Iterable

from textual.color import Color

__all__ = ["READ", "contrast", "legible", "tinted"]

#: Least ratio of what is read.
READ = 4.5
_STEPS = 40
#: What is shown has its parts rounded.
_MARGIN = 0.06
_BLACK, _WHITE = Color(0, 0, 0), Color(255, 255, 255)


def contrast(first: Color, second: Color) -> float:
    """The ratio of luminances, 1 to 21."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def legible(color: Color, grounds: Iterable[Color], least: float = READ) -> Color:
    """The colour, moved towards white or black until it stands out from every ground.

    Args:
        color: What is wanted.
        grounds: What it is drawn on; all of them dark, or all of them light.
        least: The ratio.
    """
    grounds = tuple(grounds)
    end = max((_BLACK, _WHITE), key=lambda one: min(contrast(one, ground) for ground in grounds))
    for step in range(_STEPS + 1):
        moved = color.blend(end, step / _STEPS)
        if min(contrast(moved, ground) for ground in grounds) >= least + _MARGIN:
            return moved
    return end


def tinted(ground: Color, tint: Color, most: float) -> Color:
    """The ground with as much of a tint as keeps them within a ratio: what is read on it stays so.

    Args:
        ground: What is tinted.
        tint: With what.
        most: The ratio of the two grounds at most.
    """
    found = ground
    for step in range(1, _STEPS // 2 + 1):
        moved = ground.blend(tint, step / _STEPS)
        if contrast(moved, ground) > most:
            break
        found = moved
    return found


def _luminance(color: Color) -> float:
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
