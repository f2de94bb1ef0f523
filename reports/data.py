"""A report as data: its parts as they are, each with its kind."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

from judge_tui.judging.summaries.parts import Report

__all__ = ["SCHEMA", "as_json"]

SCHEMA = 1


def as_json(report: Report) -> str:
    """One object: ``schema``, what the report says of itself, and ``parts``, each with its ``part``."""
    made = {"schema": SCHEMA, **_plain(report)}
    made["parts"] = [{"part": type(part).__name__.lower(), **_plain(part)} for part in report.parts]
    return f"{json.dumps(made, indent=2, ensure_ascii=False)}\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return {str(key): _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
