"""Values on their way over a border: what stands for those that do not cross, and what is made of that.

References, as they stand in a value's bytes::

    ["r", number, class, told]         an object of this side's: its class's number, and what is told of that
    ["c", number, told]                a class of this side's
    ["b", number]                      an object of the other side's
    ["B", number, name]                a method of such an object
    ["M", name]                        the submission, or a module of it
    ["n", name]                        what both sides have by that name (see :mod:`.wellknown`)
    ["s", start, stop, step]           a slice
    ["D", text]                        a dtype
    ["e", number, class, args, attributes, text, file, line, trace, cause]    an exception
"""

from __future__ import annotations

import contextlib
import types
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .below import KEPT
from .codec import Encoder, MalformedError, Record, TooMuchError, decode, packed
from .kinds import ENDING, base_names, fields_of, has_more, is_plain, key_of, told, unusable
from .records import made
from .standins import Bound, Home, Meta, put_home
from .wellknown import name_of, named

if TYPE_CHECKING:
    from .side import Side

__all__ = ["Crossing", "Face"]

__tracebackhide__ = True
_WIDE = 2**63
_BUILT_IN = (*KEPT, int, float, complex, str, bytes)
_MOST_TEXT, _MOST_ARGUMENTS = 20_000, 1 << 20


class Face(types.ModuleType):
    """The submission, or a module of it, as the other side imports it."""


class Crossing:
    """Writes and reads values for one side of a conversation.

    Attributes:
        reduced: Names of classes of which objects crossed as the plain class below.
    """

    def __init__(self, peer: Side) -> None:
        self._peer = peer
        self.reduced: set[str] = set()
        self._records: dict[Any, type] = {}

    def written(self, value: Any, whole: list[Any] | None = None) -> bytes:
        """The bytes of a value.

        Raises:
            TypeError: It, or a part of it, may not be handed over.
            TooMuchError: It has too many parts.
        """
        if (data := packed(value)) is not None:
            return data
        encoder = Encoder(other=self._other, before=self._before, whole=whole, mixed=False)
        data = encoder.encode(value)
        if encoder.reduced:
            self.reduced |= encoder.reduced
        return data

    def read(self, data: bytes, whole: list[Any] | None = None) -> Any:
        """The value of bytes.

        Raises:
            MalformedError: They are of none.
        """
        try:
            return decode(data, record=self._record, other=self._made, whole=whole)
        except Exception as error:
            # What the other side says must not look like what it raised.
            raise error if isinstance(error, MalformedError) else MalformedError(str(error)[:200]) from None

    def _before(self, value: Any) -> Any:
        """What stands for a value that would cross otherwise than it should."""
        kind = type(value)
        if kind is Meta or type(kind) is Meta:
            return ["b", self._peer.number(value)]
        if kind is Bound:
            return ["B", self._peer.number(value.__self__), value.__name__]
        if issubclass(kind, type):
            return self._class(value)
        if issubclass(kind, BaseException):
            return self._exception(value)
        if issubclass(kind, np.dtype):
            return ["D", value.str] if value.fields is None else None
        if self._peer.made_of(kind) is not None:
            return None
        if unusable(kind) or (is_dataclass(kind) and not is_plain(kind)):
            return self._reference(value)
        if issubclass(kind, _BUILT_IN) and self._is_whole(value, kind):
            return self._reference(value)
        if (fields := fields_of(kind)) is not None:
            self._records[fields] = kind
        return None

    def _is_whole(self, value: Any, kind: type) -> bool:
        """Whether an object below a listed class is to stay where it is.

        What a test made by calling a class, and a container, would lose its methods.
        """
        if not (self._peer.rules.keeps and has_more(kind)):
            return False
        return (issubclass(kind, KEPT) and fields_of(kind) is None) or self._peer.table.knows(value)

    def made_by_class(self, value: Any, kind: type) -> None:
        """Keep what a class made, as an object, where it has more than the listed class below it."""
        below = type(value) is kind and issubclass(kind, _BUILT_IN) and fields_of(kind) is None
        if below and self._peer.rules.keeps and has_more(kind):
            self._peer.table.number(value)

    def _other(self, value: Any) -> Any:
        """What stands for a value that does not cross."""
        kind = type(value)
        if kind is slice:
            parts = [value.start, value.stop, value.step]
            if all(part is None or (type(part) is int and -_WIDE <= part < _WIDE) for part in parts):
                return ["s", *parts]
        if issubclass(kind, Face):
            return ["M", value.__name__]
        if (name := name_of(value)) is not None:
            return ["n", name]
        return self._reference(value)

    def _reference(self, value: Any) -> Any:
        self._peer.rules.hand_over(value)
        return ["r", self._peer.table.number(value), *self.class_told(type(value))]

    def _class(self, kind: Any) -> list[Any]:
        """A class, where it is the value."""
        if (name := name_of(kind)) is not None:
            return ["n", name]
        self._peer.rules.hand_over(kind)
        return ["c", *self.class_told(kind)]

    def class_told(self, kind: type) -> list[Any]:
        """A class's number, and what the other side does not know of it."""
        number, new = self._peer.table.class_number(kind)
        return [number, self.described(kind) if new else None]

    def described(self, kind: type) -> dict[str, Any]:
        """What is told of a class."""
        found = told(kind, key_of(kind), whole=self._peer.rules.keeps)
        found["bases"] = [
            ["n", base] if isinstance(base, str) else ["c", *self.class_told(base)]
            for base in base_names(kind)
        ]
        return found

    def _exception(self, error: BaseException) -> list[Any]:
        if (number := self._peer.number_over_there(error)) is not None:
            return ["b", number]
        attributes = {name: value for name, value in vars(error).items() if not name.startswith("__judge_")}
        cause = error.__cause__
        return [
            "e", self._peer.table.number(error), self._class(type(error)),
            self._argument(error.args, ()), self._argument(attributes, {}),
            _said(error), *self._peer.rules.place(error),
            None if cause is None or cause is error else self._argument(cause, None),
        ]  # fmt: skip

    def _argument(self, value: Any, otherwise: Any) -> bytes:
        """What an exception holds, where that crosses."""
        try:
            data = self.written(value)
        except (TypeError, TooMuchError, RecursionError):
            data = b""
        return data if data and len(data) <= _MOST_ARGUMENTS else self.written(otherwise)

    def _record(self, record: Record) -> Any:
        fields = (record.kind, record.name, tuple(record.fields))
        kind: Any = self._records.get(fields)
        if kind is None:
            return self._peer.made_record(record, made(record))
        if record.kind == "nt":
            return tuple.__new__(kind, record.fields.values())
        value = object.__new__(kind)
        for name, part in record.fields.items():
            object.__setattr__(value, name, part)
        return value

    def _made(self, data: Any) -> Any:
        """What is made of a reference."""
        match data:
            case ["b", int(number)]:
                return self._peer.table.at(number)
            case ["r", int(number), int(kind), told]:
                return self._peer.stand_in(number, self._peer.kinds.of(kind, told))
            case ["c", int(number), told]:
                return self._peer.kinds.of(number, told)
            case ["B", int(number), str(name)]:
                return self._peer.rules.attribute(self._peer.table.at(number), name)
            case ["M", str(name)]:
                return self._peer.rules.module(name)
            case ["n", str(name)]:
                if (found := named(name)) is None:
                    raise MalformedError("a name that says nothing here")
                return found
            case ["s", start, stop, step]:
                return slice(start, stop, step)
            case ["D", str(text)]:
                return np.dtype(text)
            case ["e", int(number), list(kind), bytes(args), bytes(attributes), str(text), *place, cause]:
                error = self._error(self._made(kind), self.read(args), self.read(attributes))
                vars(error).update(__judge_text__=text, __judge_place__=tuple(place))
                put_home(error, Home(self._peer, self._peer.epoch, number))
                if cause is not None and isinstance(known := self.read(cause), BaseException):
                    error.__cause__ = known
                return error
        raise MalformedError("a reference that is none")

    def _error(self, kind: Any, args: Any, attributes: Any) -> BaseException:
        """An exception of a class, without a word of that class's where it stands for another."""
        if not (isinstance(kind, type) and issubclass(kind, BaseException) and isinstance(args, tuple)):
            raise MalformedError("an exception that is none")
        if issubclass(kind, ENDING):
            raise MalformedError("an exception that is none")
        error = None
        if type(kind) is not Meta:
            with contextlib.suppress(Exception):
                error = kind(*args)
        if error is None:
            error = kind.__new__(kind, *args)
            error.args = args
        vars(error).update({str(name): value for name, value in dict(attributes).items()})
        return error


def _said(error: BaseException) -> str:
    try:
        return str(error)[:_MOST_TEXT].encode("utf-8", "replace").decode()
    except Exception:
        return "(its text cannot be read)"
