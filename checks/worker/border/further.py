"""Values of the standard library that cross a border, beside Python's own kinds; imported when one does."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from collections.abc import Callable
from typing import Any

from .parts import Record

__all__ = ["read", "written"]

Part = Callable[[Any], Any]
_AS_TEXT = (("D", decimal.Decimal), ("P", pathlib.PurePath), ("U", uuid.UUID))
#: Views of dicts, which keep their order and their operations.
_EMPTY: tuple[dict[Any, Any], ...] = ({}, collections.OrderedDict())
_VIEWS = {
    type(view): tag
    for empty in _EMPTY
    for tag, view in (("vk", empty.keys()), ("vv", empty.values()), ("vi", empty.items()))
}


def written(value: Any, part: Part, *, mixed: bool = True) -> Any:
    """A value as :mod:`.codec` writes it; ``None`` where it is none of these.

    Args:
        value: The value.
        part: Writes a part of it.
        mixed: Whether members of enumerations that are numbers or texts as well are members.
    """
    kind = type(value)
    if (tag := _VIEWS.get(kind)) is not None:
        return [tag, [part(item) for item in value]]
    if issubclass(kind, enum.Enum) and (mixed or not issubclass(kind, (int, float, str, bytes))):
        return ["E", type(value).__name__, ["name", "value"], [value.name, part(value.value)]]
    if kind is Record:
        return [value.kind, value.name, list(value.fields), [part(item) for item in value.fields.values()]]
    if issubclass(kind, datetime.datetime):
        return ["dt", value.isoformat()]
    if issubclass(kind, datetime.date):
        return ["da", value.isoformat()]
    if issubclass(kind, datetime.time):
        return ["ti", value.isoformat()]
    if issubclass(kind, datetime.timedelta):
        return ["td", value.days, value.seconds, value.microseconds]
    if issubclass(kind, fractions.Fraction):
        return ["F", part(value.numerator), part(value.denominator)]
    return next(([tag, str(value)] for tag, listed in _AS_TEXT if issubclass(kind, listed)), None)


_READ: dict[str, Callable[..., Any]] = {
    "dt": datetime.datetime.fromisoformat,
    "da": datetime.date.fromisoformat,
    "ti": datetime.time.fromisoformat,
    "td": datetime.timedelta,
    "D": decimal.Decimal,
    "P": pathlib.Path,
    "U": uuid.UUID,
}


_VIEWED: dict[str, Callable[[list[Any]], Any]] = {
    "vk": lambda items: dict.fromkeys(items).keys(),
    "vv": lambda items: dict(enumerate(items)).values(),
    "vi": lambda items: dict(items).items(),
}


def read(tag: Any, rest: list[Any], part: Part) -> Any:
    """The value of a tag.

    Raises:
        KeyError: It is none of these.
        ValueError: What follows does not fit it.
    """
    try:
        if tag in _VIEWED:
            return _VIEWED[tag]([part(item) for item in rest[0]])
        if tag == "F":
            numerator, denominator = map(part, rest)
            return fractions.Fraction(numerator, denominator)
        return _READ[tag](*rest)
    except ArithmeticError as error:
        raise ValueError(str(error)) from error
