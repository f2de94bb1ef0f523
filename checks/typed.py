"""Data in JSON or msgpack that is read as a type.

What msgspec needs to know of a type it finds out when the type is read for the first time. If another thread
reads the same type meanwhile, the process ends with a segmentation fault (seen in 0.22): one does at a time.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from threading import RLock
from typing import Any, TypeVar, cast

import msgspec

__all__ = ["converted", "from_json", "from_msgpack"]

T = TypeVar("T")
_finding_out = RLock()


@cache
def _json(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


@cache
def _msgpack(kind: Hashable) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(kind)


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Read JSON as a type.

    Raises:
        msgspec.DecodeError: It is not JSON, or of another shape.
    """
    with _finding_out:
        decoder = _json(cast(Hashable, kind))
    read: T = decoder.decode(data)
    return read


def from_msgpack(data: bytes | memoryview, kind: type[T]) -> T:
    """Read msgpack as a type.

    Raises:
        msgspec.DecodeError: It is not msgpack, or of another shape.
    """
    with _finding_out:
        decoder = _msgpack(cast(Hashable, kind))
    read: T = decoder.decode(data)
    return read


def converted(value: Any, kind: type[T]) -> T:
    """Take plain data as a type.

    Raises:
        msgspec.ValidationError: It is of another shape.
    """
    with _finding_out:
        _msgpack(cast(Hashable, kind))
    return msgspec.convert(value, kind)
