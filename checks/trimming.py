"""Outcomes of bounded size, whatever a submission says: texts are cut here, on the trusted side."""

from __future__ import annotations

from typing import Any

import msgspec

from judge_tui.checks.verdict import Curve, Evidence, Outcome

__all__ = ["MOST_BYTES", "trimmed"]

#: Bytes of an outcome at most, as JSON.
MOST_BYTES = 1 << 20
_SUMMARY, _NAME, _NOTE, _OUTPUT, _CELL = 2_000, 500, 4_000, 100_000, 500
_ROWS, _COLUMNS, _POINTS, _ITEMS = 500, 40, 5_000, 400
#: Characters of all tables of an outcome: nothing is encoded that could not be kept.
_TABLES = MOST_BYTES // 2


def trimmed(outcome: Outcome) -> Outcome:
    """The outcome with what is too long of it cut; evidence that decided is kept before the rest."""
    fitting = msgspec.structs.replace(
        outcome, summary=_cut(outcome.summary, _SUMMARY), evidence=_evidence(outcome.evidence, _OUTPUT)
    )
    output = _OUTPUT
    while len(msgspec.json.encode(fitting)) > MOST_BYTES and output > 1:
        output //= 8
        fitting = msgspec.structs.replace(fitting, evidence=_evidence(fitting.evidence, output))
    if len(msgspec.json.encode(fitting)) <= MOST_BYTES:
        return fitting
    return msgspec.structs.replace(
        fitting,
        evidence=tuple(
            Evidence(_cut(item.quantity, 80), ok=item.ok, file=_cut_any(item.file, 200), line=item.line)
            for item in fitting.evidence
        ),
    )


def _evidence(items: tuple[Evidence, ...], output: int) -> tuple[Evidence, ...]:
    if len(items) > _ITEMS:
        decided = [item for item in items if item.ok is False][:_ITEMS]
        others = [item for item in items if item.ok is not False]
        items = (*decided, *others[: _ITEMS - len(decided)])
    room = _TABLES
    kept = []
    for item in items:
        table = _table(item.table, room)
        room -= sum(len(cell) for row in table for cell in row)
        kept.append(_item(item, output, table))
    return tuple(kept)


def _table(rows: tuple[tuple[str, ...], ...], room: int) -> tuple[tuple[str, ...], ...]:
    """The rows that begin within so many characters."""
    kept = []
    for row in rows[:_ROWS]:
        if room <= 0:
            break
        kept.append(tuple(_cut(cell, _CELL) for cell in row[:_COLUMNS]))
        room -= sum(map(len, kept[-1]))
    return tuple(kept)


def _item(item: Evidence, output: int, table: tuple[tuple[str, ...], ...]) -> Evidence:
    return msgspec.structs.replace(
        item,
        quantity=_cut(item.quantity, _NAME),
        measured=_cut_any(item.measured, _NAME),
        limit=_cut_any(item.limit, _NAME),
        file=_cut_any(item.file, _NAME),
        note=_cut(item.note, _NOTE),
        output=_cut(item.output, output),
        curve=item.curve and _curve(item.curve),
        table=table,
    )


def _curve(curve: Curve) -> Curve:
    if len(curve.points) <= _POINTS:
        return curve
    every = -(-len(curve.points) // _POINTS)
    return msgspec.structs.replace(curve, points=curve.points[::every])


def _cut_any(value: float | int | str | None, most: int) -> Any:
    return _cut(value, most) if isinstance(value, str) else value


def _cut(text: str, most: int) -> str:
    """A text's beginning, and how much more there was."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text) - most:,} characters more)"
