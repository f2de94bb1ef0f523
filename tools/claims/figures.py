"""Figures as the page prints them: rounded, so that another seed or machine gives the same text."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["NAMES", "each", "rounded", "span", "under"]

#: Folder → the name that the page uses.
NAMES = {
    "glm5": "GLM-5",
    "glm5.1": "GLM-5.1",
    "kimi-k2.6": "Kimi K2.6",
    "minimax-m2.7": "MiniMax",
    "qwen36": "Qwen3-6",
}


def _decade(value: float) -> int:
    """The power of ten at or below a positive value."""
    return math.floor(math.log10(value))


def under(values: Iterable[float]) -> str:
    """``"below 1e-15"``: the next power of ten above all of them."""
    worst = max(abs(value) for value in values)
    if not math.isfinite(worst):
        return "not finite"
    return "0" if worst == 0 else f"below 1e{_decade(worst) + 1}"


def rounded(value: float, digits: int = 2) -> str:
    """A number of so many significant digits."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "infinite"
    if value == 0:
        return "0"
    shown = round(value, digits - 1 - _decade(abs(value)))
    if 1e-3 <= abs(shown) < 1e6:
        return f"{shown:,.{max(0, digits - 1 - _decade(abs(shown)))}f}"
    return f"{shown:.{digits - 1}e}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def span(values: Iterable[float], digits: int = 1) -> str:
    """``"2e-11 … 5e-10"``, or one number when both ends are the same after rounding."""
    listed = sorted(values)
    low, high = rounded(listed[0], digits), rounded(listed[-1], digits)
    return low if low == high else f"{low} … {high}"


def each(figures: Iterable[tuple[str, str]]) -> str:
    """``"GLM-5 3, Qwen3-6 4"``; a folder's name becomes the model's."""
    return ", ".join(f"{NAMES.get(name, name)} {figure}" for name, figure in figures)
