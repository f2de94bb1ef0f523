"""Classes for named tuples, dataclasses and enumerations that came over a border: of their names."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
from typing import Any

from .codec import Record

__all__ = ["made"]


def made(record: Record) -> Any:
    """An object of a class that has the record's name and fields; the same class for the same ones."""
    if record.kind == "E":
        return _enumeration(record.name, record.fields["name"], record.fields["value"])
    kind = _class(record.kind, record.name, tuple(record.fields))
    return kind(*record.fields.values())


@functools.lru_cache(maxsize=512)
def _class(kind: str, name: str, fields: tuple[str, ...]) -> Any:
    if kind == "nt":
        return collections.namedtuple(name, fields)
    # Who made it may have left out what compares or hashes; that is not told, and does no harm here.
    return dataclasses.make_dataclass(name, fields, order=True, unsafe_hash=True)


_made: Any = enum.Enum
_ENUMERATIONS: dict[tuple[str, str], Any] = {}


def _enumeration(name: str, member: str, value: Any) -> Any:
    known = _ENUMERATIONS.get((name, member))
    if known is None or known.value != value:
        known = _ENUMERATIONS[name, member] = _made(name, {member: value})[member]
    return known
