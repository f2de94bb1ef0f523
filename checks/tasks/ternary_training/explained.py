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

__all__ = ["explained", "few_of", "which"]

Array = npt.NDArray[Any]

#: Share of weights at s/2, whose level may be either, from which on an answer tells nothing of places.
_TIES = 0.01
#: How far a right weight may be off, over max(1, s); and weights that are looked at of right and wrong ones.
_OFF, _MOST = 2e-5, 300_000


def explained(answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool) -> str:
    """Where the levels come from, by which rule they were chosen, or which alone are wrong; or nothing.

    Args:
        answers: Latent weights and their projection, (out, in) each, every one 0 or ±s.
        grouping: Which weights share a scale.
        transposed: Whether the submission stores (in, out).
    """
    answers = few_of(answers, grouping, transposed)
    levels = [_levels(weight, projected, grouping, transposed) for weight, projected in answers]
    known = [pair for pair in levels if pair is not None]
    if told := rearranged(known):
        return f"levels are exchanged: {told}"
    return rule_of_levels(answers, grouping, transposed) or which(answers, grouping, transposed)


def few_of(
    answers: Sequence[tuple[Array, Array]], grouping: Grouping, transposed: bool
) -> list[tuple[Array, Array]]:
    """Answers that are looked at closely: wrong ones before right ones, small ones before large ones."""
    ranked = []
    for at, (weight, projected) in enumerate(answers):
        s = mean_scale(weight, grouping, transposed).values
        right = s * np.clip(np.round(weight / np.where(s > 0, s, 1.0)), -1, 1)
        fine = bool((np.abs(projected - right) <= _OFF * np.maximum(1.0, s)).mean() > 1.0 - _OFF)
        ranked.append((fine, weight.size, at))
    kept: list[int] = []
    for fine in (False, True):
        left = _MOST
        for _fine, size, at in sorted(each for each in ranked if each[0] == fine):
            left -= size
            if left >= 0 or not kept:
                kept.append(at)
    return [answers[at] for at in sorted(kept)]


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
