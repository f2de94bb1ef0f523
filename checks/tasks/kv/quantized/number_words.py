"""What numbers that come back wrong from codes look like: which they are, and what stands in their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.misplaced import misplaced, span

__all__ = ["number_words", "toward_zero"]

Array = npt.NDArray[Any]
#: Of the wrong numbers, how many a word must hold for; and how many must be wrong for it to be looked for.
_MOST, _FEWEST = 0.9, 3
#: How near factors, differences and numbers are that are the same.
_SAME = 0.02
#: How far off, relatively, codes leave a row.
_ROW = 0.2


def number_words(x: Array, back: Array, wrong: Array, limit: Array | float) -> str:
    """Which numbers are wrong and what they are, as a clause; empty where nothing is seen.

    Args:
        x: (2, B, H, N, D), what went in.
        back: What came back.
        wrong: Which of them are wrong, bool.
        limit: How far off one may be, of a shape that broadcasts.
    """
    if np.count_nonzero(wrong) < _FEWEST or not np.isfinite(back).all():
        return ""
    where, what = _where(wrong), _what(x, back, wrong, np.broadcast_to(limit, x.shape))
    return ": ".join(filter(None, (where, what)))


def toward_zero(x: Array, back: Array, step: float) -> str:
    """Whether numbers are cut off to one side by up to a step, where they should be rounded."""
    if not step or not np.abs(back - x).max() <= 1.02 * step:
        return ""
    slack = 0.02 * step
    if (np.abs(back) <= np.abs(x) + slack).all():
        return "numbers are cut off towards zero where they should be rounded"
    if (back <= x + slack).all():
        return "numbers are rounded down where they should be rounded to the nearest"
    return (
        "numbers are rounded up where they should be rounded to the nearest"
        if (back >= x - slack).all()
        else ""
    )


def _where(wrong: Array) -> str:
    """Axes along which not all numbers are wrong."""
    told = []
    sides = np.flatnonzero(wrong.any(axis=(1, 2, 3, 4)))
    if len(sides) == 1:
        told.append(("keys", "values")[int(sides[0])])
    for axis, name in ((4, "channel"), (3, "token"), (2, "head")):
        others = tuple(a for a in range(5) if a != axis)
        at = np.flatnonzero(wrong.any(axis=others))
        if len(at) < wrong.shape[axis]:
            odd = len(at) > 1 and set((at % 2).tolist()) in ({0}, {1})
            every = (
                f"every second {name}" if odd and len(at) == (wrong.shape[axis] + (at[0] == 0)) // 2 else ""
            )
            told.append(every or span(name, at.tolist(), wrong.shape[axis]))
    return ", ".join(told)


def _what(x: Array, back: Array, wrong: Array, limit: Array) -> str:
    """What stands in the place of the wrong numbers."""
    one, other = back[wrong], x[wrong]
    most = _MOST * len(one)
    if np.count_nonzero(one == 0.0) >= most:
        return "zeros"
    if np.count_nonzero(np.abs(one + other) <= limit[wrong]) >= most:
        return "their signs are turned"
    with np.errstate(all="ignore"):
        factor = one / other
    middle = float(np.median(factor[np.isfinite(factor)])) if np.isfinite(factor).any() else 0.0
    if np.count_nonzero(np.abs(factor - middle) <= _SAME * abs(middle)) >= most and abs(middle - 1) > _SAME:
        return f"{middle:.3g} times what went in"
    apart = one - other
    if np.count_nonzero(np.abs(apart - np.median(apart)) <= _SAME * abs(np.median(apart))) >= most:
        return f"{abs(np.median(apart)):.3g} too {'large' if np.median(apart) > 0 else 'small'}"
    sizes = np.abs(apart)
    if np.count_nonzero(np.abs(sizes - np.median(sizes)) <= _SAME * np.median(sizes)) >= most:
        return f"{np.median(sizes):.3g} off, up or down"
    if (np.abs(one) < np.abs(other)).mean() >= _MOST and np.ptp(np.abs(one)) <= _SAME * np.abs(one).max():
        return f"cut off at ±{np.abs(one).max():.3g}"
    for by in (1, -1):
        if np.count_nonzero(np.abs(one - np.roll(x, by, axis=-1)[wrong]) <= _SAME * np.abs(x).max()) >= most:
            return f"what stood in the channel {'before' if by > 0 else 'behind'}"
    rows = wrong.any(axis=-1)
    one, other = back[rows], x[rows]
    each = (one * other).sum(axis=-1) / np.maximum((other * other).sum(axis=-1), 1e-300)
    if (np.abs(one - each[:, None] * other) <= limit[rows]).mean() >= _MOST:
        return f"tokens are {each.min():.3g} to {each.max():.3g} times what went in, as with another's scale"
    told = (misplaced(back[i], x[i], _ROW) for i in (0, 1) if wrong[i].any())
    return next((each for each in told if each and not each.endswith(": wrong")), "")
