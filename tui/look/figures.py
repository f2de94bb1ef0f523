"""Measured figures in words."""

from __future__ import annotations

__all__ = ["amount"]


def amount(value: float | int | str | None, unit: str = "", digits: int = 4) -> str:
    """A figure with its unit, of one thing in the singular; what a submission said as it is.

    Args:
        value: The figure; nothing is told of ``None``.
        unit: ``B``, ``s``, ``files`` and so on.
        digits: That count, of a fraction.
    """
    if value is None:
        return ""
    told = f"{value:.{digits}g}" if isinstance(value, float) else str(value)
    if not unit or isinstance(value, str):
        return told
    return f"{told} {_one(unit) if value == 1 else unit}"


def _one(unit: str) -> str:
    """1 file, 1 entry; symbols (s, ms, B) have no plural."""
    if unit.endswith("ies"):
        return f"{unit[:-3]}y"
    return unit[:-1] if unit.endswith("s") and len(unit) > 2 else unit
