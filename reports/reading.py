"""A report that another process has made, read from its JSON."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from judge_tui.judging.summaries.parts import Part, Report

__all__ = ["read_report"]

_PARTS = {kind.__name__.lower(): kind for kind in get_args(Part)}


def read_report(text: str) -> Report:
    """What :func:`judge_tui.reports.data.as_json` has said.

    Raises:
        ValueError: It is something else.
    """
    try:
        raw = json.loads(text)
        parts = tuple(_made(_PARTS[part["part"]], part) for part in raw["parts"])
        told = {key: value for key, value in raw.items() if key != "parts"}
        report: Report = _made(Report, {**told, "parts": ()}, parts=parts)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"no report: {error}") from error
    return report


def _made(kind: Any, raw: dict[str, Any], **known: Any) -> Any:
    """A dataclass of its fields' values; what it works out itself is left to it."""
    hints = get_type_hints(kind)
    own = {each.name: _value(hints[each.name], raw[each.name]) for each in fields(kind) if each.init}
    return kind(**(own | known))


def _value(hint: Any, raw: Any) -> Any:
    """A value of a type, from what JSON has of it."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if is_dataclass(kind):
        return _made(kind, raw)
    if kind is tuple and isinstance(raw, list):
        each = inner if inner and inner[-1] is not Ellipsis else (inner[0],) * len(raw)
        return tuple(map(_value, each, raw)) if raw else ()
    if kind is frozenset:
        return frozenset(_value(inner[0], item) for item in raw)
    if isinstance(raw, dict) and len(inner) == 2:
        return {key: _value(inner[1], item) for key, item in raw.items()}
    if raw is not None and NoneType in inner:
        return _value(next(each for each in inner if each is not NoneType), raw)
    return raw
