"""What was chosen in place of the top-k: the first reading that fits every wrong row."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.tasks.fuse import elsewhere, left_out, other_orders
from judge_tui.checks.tasks.fuse.answered_rows import Row
from judge_tui.checks.tasks.fuse.readings import fitting

__all__ = ["chosen_instead"]


def chosen_instead(rows: Iterable[Row]) -> str:
    """What is wrong with the indices of rows, as a clause.

    Args:
        rows: Right ones and wrong ones of all launches.

    Returns:
        Empty where all are right, and where nothing that is known gives them all.
    """
    return fitting((*elsewhere.READINGS, *other_orders.READINGS, *left_out.READINGS), rows)
