"""Outcomes of checks with the names in their texts hidden."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from judge_tui.checks.verdict import Evidence, Outcome

__all__ = ["covered"]

Hide = Callable[[str], str]


def covered(outcome: Outcome, model: str, hide: Hide) -> Outcome:
    """An outcome as it may be shown; the files that it points at stay, to be gone to.

    Args:
        outcome: It.
        model: What stands in the place of the model's name.
        hide: Hides names in a text.
    """
    return msgspec.structs.replace(
        outcome,
        model=model,
        summary=hide(outcome.summary),
        evidence=tuple(_evidence(item, hide) for item in outcome.evidence),
    )


def _evidence(item: Evidence, hide: Hide) -> Evidence:
    curve = item.curve
    return msgspec.structs.replace(
        item,
        quantity=hide(item.quantity),
        measured=hide(item.measured) if isinstance(item.measured, str) else item.measured,
        limit=hide(item.limit) if isinstance(item.limit, str) else item.limit,
        unit=hide(item.unit),
        note=hide(item.note),
        curve=curve and msgspec.structs.replace(curve, x=hide(curve.x), y=hide(curve.y)),
        table=tuple(tuple(map(hide, row)) for row in item.table),
        output=hide(item.output),
    )
