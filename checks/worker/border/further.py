"""Values of the standard library that cross a border, beside Python's own kinds; imported when one does."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

from .codec import Record

__all__ = ["read", "written"]

Part = Callable[[Any], Any]


def written(value: Any, part: Part) -> Any:
    """A value as :mod:`.codec` writes it; ``None`` where it is none of these.

    Args:
        value: The value.
        part: Writes a part of it.
    """
    if isinstance(value, enum.Enum):
        return ["E", type(value).__name__, ["name", "value"], [value.name, part(value.value)]]
    if isinstance(value, Record):
        return [value.kind, value.name, list(value.fields), [part(item) for item in value.fields.values()]]
    if isinstance(value, datetime.datetime):
        return ["dt", value.isoformat()]
    if isinstance(value, datetime.date):
        return ["da", value.isoformat()]
    if isinstance(value, datetime.time):
        return ["ti", value.isoformat()]
    if isinstance(value, datetime.timedelta):
        return ["td", value.days, value.seconds, value.microseconds]
    for tag, kind in (("D", decimal.Decimal), ("F", fractions.Fraction), ("P", pathlib.PurePath), ("U", uuid.UUID)):
        if isinstance(value, kind):
            return [tag, str(value)]
    return None


_READ: dict[str, Callable[..., Any]] = {
    "dt": datetime.datetime.fromisoformat,
    "da": datetime.date.fromisoformat,
    "ti": datetime.time.fromisoformat,
    "td": datetime.timedelta,
    "D": decimal.Decimal,
    "F": fractions.Fraction,
    "P": pathlib.Path,
    "U": uuid.UUID,
}


def read(tag: Any, rest: list[Any], part: Part) -> Any:
    """The value of a tag.

    Raises:
        KeyError: It is none of these.
        ValueError: What follows does not fit it.
    """
    try:
        return _READ[tag](*rest)
    except ArithmeticError as error:
        raise ValueError(str(error)) from error
