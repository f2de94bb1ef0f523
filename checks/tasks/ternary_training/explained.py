"""What explains projected weights that are levels of their own scale, but not the nearest ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.ternary_training.astray import ALL, BECOMING, astray
from judge_tui.checks.tasks.ternary_training.grouping import Grouping, mean_scale
from judge_tui.checks.tasks.ternary_training.rearranged import rearranged
from judge_tui.checks.tasks.ternary_training.thresholds import rule_of_levels, table_of_levels

__all__ = ["explained", "which"]

Array = npt.NDArray[Any]

#: Share of weights at s/2, whose level may be either, from which on an answer tells nothing of places.
_TIES = 0.01


def explained(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """Where the levels come from, by which rule they were chosen, or which alone are wrong; or nothing.

    Args:
        answers: Latent weights and their projection, (out, in) each, every one 0 or ±s.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    levels = [_levels(weight, projected, grouping, transposed) for weight, projected in answers]
    known = [pair for pair in levels if pair is not None]
    if told := rearranged(known):
        return f"levels are exchanged: {told}"
    return rule_of_levels(answers, grouping, transposed) or which(answers, grouping, transposed)


def which(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """Which weights alone are wrong, and what they become, as a clause; empty where nothing is known."""
    told = astray(answers, grouping, transposed)
    if BECOMING in told or told.startswith(ALL):
        return told
    return table_of_levels(answers, grouping, transposed) or told


def _levels(
    weight: Array, projected: Array, grouping: Grouping, transposed: bool
) -> tuple[Array, Array] | None:
    """The nearest levels and those that came; ``None`` where many have no nearest one."""
    s = mean_scale(weight, grouping, transposed).values
    safe = np.where(s > 0, s, 1.0)
    ratio = weight / safe
    if (np.abs(np.abs(ratio) - 0.5) < 1e-9).mean() > _TIES:
        return None
    return np.clip(np.round(ratio), -1, 1), np.round(projected / safe)
