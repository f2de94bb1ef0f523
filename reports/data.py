"""A report as data: its parts as they are, each with its kind."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from judge_tui.judging.exchange.as_table import guarded
from judge_tui.judging.summaries.parts import Criteria, Heading, Part, Report, Table

__all__ = ["SCHEMA", "as_csv", "as_json", "as_jsonl"]

SCHEMA = 1


def as_json(report: Report) -> str:
    """One object: ``schema``, what the report says of itself, and ``parts``, each with its ``part``."""
    made = {"schema": SCHEMA, **_plain(report)}
    made["parts"] = [{"part": type(part).__name__.lower(), **_plain(part)} for part in report.parts]
    return f"{json.dumps(made, indent=2, ensure_ascii=False)}\n"


def as_jsonl(report: Report) -> str:
    """A line with what the report says of itself, then one for each part."""
    head = {"schema": SCHEMA, **_plain(report)}
    del head["parts"]
    parts = ({"part": type(part).__name__.lower(), **_plain(part)} for part in report.parts)
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (head, *parts))


def as_csv(report: Report) -> str:
    """The tables, a row for each cell: headings above it, the first words of its row, column and value."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("section", "part", "row", "column", "value"))
    section: list[str] = []
    for part in report.parts:
        if isinstance(part, Heading):
            section = [*section[: part.level - 2], part.text]
        for row, column, value in _cells(part):
            place = " / ".join(section[:1]), " / ".join(section[1:])
            writer.writerow([guarded(text) for text in (*place, row, column, value)])
    return out.getvalue()


def _cells(part: Part) -> Iterator[tuple[str, str, str]]:
    """Row, column and text of each cell of a table, or of a comparison."""
    if isinstance(part, Table):
        for row in part.rows:
            name = next((cell.text for cell in row if cell.text and not cell.text.isdecimal()), "")
            yield from ((name, title, cell.text) for title, cell in zip(part.head, row, strict=True))
    elif isinstance(part, Criteria):
        for line in part.lines:
            yield from ((line.name, title, text) for title, text in zip(part.models, line.cells, strict=True))
            yield line.name, "Edge", line.edge


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return {str(key): _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
