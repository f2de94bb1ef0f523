"""Heads and width of what a decoder keeps, where it was told neither: read off what a prompt changed."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slots import Kept, changed

__all__ = ["guessed"]


def guessed(before: Kept, after: Kept, tokens: int) -> Shape | None:
    """Of an array whose one axis changed at as many places as there are tokens the other two axes.

    Args:
        before: The arrays before a prompt.
        after: The arrays after it.
        tokens: How many it has; other than the number of heads, or nothing is told.

    Returns:
        Heads and width, in either order; ``None`` where no array has such axes.
    """
    for path, (_handle, values, _dtype) in changed(before, after).items():
        old = before[path][1] if path in before else np.zeros(1)
        new = values != (old if old.shape == values.shape else 0.0)
        others = [tuple(a for a in range(new.ndim) if a != axis) for axis in range(new.ndim)]
        axes = [axis for axis in range(new.ndim) if np.count_nonzero(new.any(axis=others[axis])) == tokens]
        if len(axes) == 1:
            rest = [n for axis, n in enumerate(new.shape) if axis != axes[0] and n not in (1, 2)]
            if len(rest) == 2:
                return Shape(rest[0], rest[0], rest[1])
    return None
