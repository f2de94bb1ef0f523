"""Values as bytes: what crosses a border by value, exactly, and nothing that could run.

Written by both jails and read by the engine, which believes none of it: whatever bytes come, reading gives
plain values or :class:`MalformedError`. Built on msgpack; every value is a scalar of that, or a list that
begins with a tag::

    None True 3 2.5 "text" b"bytes"    themselves
    ["l", [..]] ["t", [..]]            list, tuple
    ["d", [[key, value]..]]            dict, in its order
    ["s", [..]] ["f", [..]]            set, frozenset
    ["q", [..]]                        deque
    ["i", "123.."] ["c", re, im]       an int past 64 bits, complex
    ["r", start, stop, step]           range
    ["b", bytes]                       bytearray
    ["a", dtype, shape, bytes]         array; ["o", shape, [..]] of objects; ["far", dtype, shape, i] apart
    ["v", shape, [name..], [array..]]  array of records, field by field
    ["n", dtype, bytes]                NumPy scalar
    ["D" "P" "U", text]                Decimal, Path, UUID
    ["F", numerator, denominator]      Fraction
    ["dt" "da" "ti", text] ["td", days, seconds, microseconds]
    ["vk" "vv" "vi", [..]]             keys, values, items of a dict, as views
    ["nt" "dc", name, [field..], [value..]]   named tuple, dataclass
    ["E", name, member, value]         member of an enumeration
    ["k", i]                           the i-th list, set, dict, …, that was written whole before, once more
    ["x", ..]                          whatever the caller makes of a value that does not cross
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, is_dataclass
from typing import Any

import msgspec
import numpy as np

from .parts import Far, MalformedError, Record, TooMuchError

__all__ = ["Encoder", "Far", "MalformedError", "Record", "TooMuchError", "decode", "packed"]

#: Parts of one value at most, and how deep they may stand in each other.
_MOST, _DEEP = 2_000_000, 150
#: Items of one hash that a table may have.
_ALIKE = 10_000
_HASHED = frozenset("sf")
_KINDS = frozenset("?bhilqpBHILQPefdgFDGSUMm")
_WIDE = 2**63
#: Classes of what msgpack has as it is, whatever it is; and of all that stands for itself once it is read.
_THEMSELVES = frozenset({type(None), bool, float, bytes})
_READ = _THEMSELVES | {int, str}
_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
#: Kinds of arrays that go through shared memory.
_SENT_APART = "fiub"


#: What stands for a value that does not cross: anything that msgpack can carry; ``None`` refuses it.
Other = Callable[[Any], Any]


@dataclass(slots=True)
class Encoder:
    """Writes values as bytes.

    Attributes:
        other: What stands for a value that does not cross; called for everything that is not listed.
        before: The same, asked of every value that is of no listed class itself, before all else.
        far: Bytes of an array from which on it is sent apart; ``None`` sends none apart.
        apart: Arrays to be sent apart, in their order; filled by :meth:`encode`.
        reduced: Names of classes that crossed as the plain class below them; filled by :meth:`encode`.
        whole: Containers that can change, in the order in which they were written whole, those that are known
            from before first; each is written once. ``None`` writes them as often as they stand there.
        mixed: Whether members of enumerations that are numbers or texts as well cross as members.
        most: Parts that a value may have.
    """

    other: Other | None = None
    before: Other | None = None
    far: int | None = None
    apart: list[Any] = field(default_factory=list)
    reduced: set[str] = field(default_factory=set)
    whole: list[Any] | None = None
    mixed: bool = True
    most: int = _MOST
    _places: dict[int, int] = field(default_factory=dict)
    _left: int = _MOST

    def encode(self, value: Any) -> bytes:
        """The bytes of a value.

        Raises:
            TooMuchError: It has too many parts, or holds itself.
            TypeError: It does not cross, and nothing stands for it.
        """
        self._left = self.most
        if self.whole:
            self._places = {id(known): index for index, known in enumerate(self.whole)}
        return _pack(self.tree(value))

    def tree(self, value: Any, depth: int = 0) -> Any:
        """A value as what msgpack can carry; see the module."""
        self._left -= 1
        if self._left < 0:
            raise TooMuchError(f"a value of more than {self.most:,} parts")
        if depth > _DEEP:
            raise TooMuchError(f"a value nested more than {_DEEP} deep, or that holds itself")
        kind = type(value)
        if kind in _THEMSELVES:
            return value
        if kind is str:
            return value if value.isascii() else _text(value)
        if kind is int:
            return value if -_WIDE <= value < _WIDE else ["i", _digits(value)]
        if (write := _EXACT.get(kind)) is not None:
            if self.whole is None or kind not in _CHANGING:
                return write(self, value, depth + 1)
            return self._once(value, write, depth + 1)
        return self._by_base(value, depth + 1)

    def _once(self, value: Any, write: Callable[[Encoder, Any, int], Any], depth: int) -> Any:
        """A container that can change: written whole the first time, then by its place."""
        assert self.whole is not None
        if (index := self._places.get(id(value))) is not None:
            return ["k", index]
        tree = write(self, value, depth)
        if tree[0] != "x":
            self._places[id(value)] = len(self.whole)
            self.whole.append(value)
        return tree

    def _by_base(self, value: Any, depth: int) -> Any:
        """A value of a class that is not listed: by the listed one below it, else as something other."""
        if self.before is not None and (stands := self.before(value)) is not None:
            return ["x", stands]
        from .further import written

        # A value's own word for its class is not asked.
        kind = type(value)
        if issubclass(kind, np.ndarray):
            # without its mask it would be another value
            masked = issubclass(kind, np.ma.MaskedArray) and np.ma.is_masked(value)
            return self._otherwise(value) if masked else self.tree(np.asarray(value), depth)
        if issubclass(kind, np.generic):
            return self._scalar(value)
        if issubclass(kind, tuple) and isinstance(fields := getattr(kind, "_fields", None), tuple):
            return [
                "nt",
                kind.__name__,
                list(fields),
                [self.tree(item, depth) for item in tuple.__iter__(value)],
            ]
        if is_dataclass(kind) and kind is not Record:
            names = [name for name in kind.__dataclass_fields__ if hasattr(value, name)]
            parts = [self.tree(getattr(value, name), depth) for name in names]
            return ["dc", kind.__name__, names, parts]
        if (tree := written(value, lambda part: self.tree(part, depth), mixed=self.mixed)) is not None:
            return tree
        for base, plain in _BASES:
            if issubclass(kind, base):
                self.reduced.add(kind.__name__)
                return self._reduced(value, plain(value), depth)
        return self._otherwise(value)

    def _scalar(self, value: Any) -> Any:
        if value.dtype.names:
            return self.array(np.asarray(value), 0)
        if value.dtype.char not in _KINDS or value.dtype.fields:
            return self._otherwise(value)
        return ["n", value.dtype.str, value.tobytes()]

    def _reduced(self, value: Any, plain: Any, depth: int) -> Any:
        """A value as the plain one; where that can change, what changes is the value."""
        if (index := self._places.get(id(value))) is not None:
            return ["k", index]
        tree = self.tree(plain, depth)
        if self.whole is not None and type(plain) in _CHANGING:
            self._places[id(value)] = len(self.whole) - 1
            self.whole[-1] = value
        return tree

    def _otherwise(self, value: Any) -> Any:
        stands = self.other(value) if self.other is not None else None
        if stands is None:
            raise TypeError(f"a {type(value).__name__} does not cross by value")
        return ["x", stands]

    def array(self, value: Any, depth: int) -> Any:
        """An array as what msgpack can carry."""
        if value.dtype.kind == "O":
            return ["o", list(value.shape), [self.tree(item, depth) for item in value.ravel().tolist()]]
        if value.dtype.names:
            fields = [self.array(value[name], depth) for name in value.dtype.names]
            return ["v", list(value.shape), list(value.dtype.names), fields]
        if value.dtype.char not in _KINDS:
            return self._otherwise(value)
        if self.far is not None and value.nbytes >= self.far and value.dtype.kind in _SENT_APART:
            self.apart.append(value)
            return ["far", value.dtype.str, list(value.shape), len(self.apart) - 1]
        return ["a", value.dtype.str, list(value.shape), np.ascontiguousarray(value).tobytes()]

    def items(self, tag: str, value: Iterable[Any], depth: int) -> list[Any]:
        """What holds items one after another."""
        tree = self.tree
        return [tag, [tree(item, depth) for item in value]]


def packed(value: Any) -> bytes | None:
    """The bytes of a value that is one of msgpack's as it stands; ``None`` of any other.

    Args:
        value: Any; most of what crosses is one of those.
    """
    kind = type(value)
    itself = (
        kind in _THEMSELVES or (kind is int and -_WIDE <= value < _WIDE) or (kind is str and value.isascii())
    )
    return _pack(value) if itself else None


def _text(value: str) -> Any:
    """A text; one with halves of surrogate pairs, which is no UTF-8, by its code points."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return ["u", [ord(character) for character in value]]
    return value


def _digits(value: int) -> str:
    return hex(value)


_EXACT: Mapping[type, Callable[[Encoder, Any, int], Any]] = {
    list: lambda own, value, depth: own.items("l", value, depth),
    tuple: lambda own, value, depth: own.items("t", value, depth),
    set: lambda own, value, depth: own.items("s", value, depth),
    frozenset: lambda own, value, depth: own.items("f", value, depth),
    deque: lambda own, value, depth: own.items("q", value, depth),
    dict: lambda own, value, depth: [
        "d", [[own.tree(key, depth), own.tree(item, depth)] for key, item in value.items()]
    ],
    complex: lambda own, value, depth: ["c", value.real, value.imag],
    range: lambda own, value, depth: [
        "r", *(own.tree(n, depth) for n in (value.start, value.stop, value.step))
    ],
    bytearray: lambda own, value, depth: ["b", bytes(value)],
    np.ndarray: lambda own, value, depth: own.array(value, depth),
}  # fmt: skip

#: Classes of containers that can change; a reader makes them of these tags.
_CHANGING = frozenset({list, dict, set, deque, bytearray, np.ndarray})
_CHANGING_TAGS = frozenset("lsqdbaov")

#: Listed classes, and what makes a plain value of one below them without asking that class anything.
_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, int.__pos__),
    (float, float.__pos__),
    (complex, complex.__pos__),
    (str, str.__str__),
    (bytes, lambda value: bytes(memoryview(value))),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
    (set, lambda value: set(set.__iter__(value))),
    (frozenset, lambda value: frozenset(frozenset.__iter__(value))),
)


def decode(
    data: bytes,
    *,
    record: Callable[[Record], Any] = lambda record: record,
    far: Callable[[Far], Any] = lambda far: far,
    other: Callable[[Any], Any] | None = None,
    whole: list[Any] | None = None,
) -> Any:
    """The value that bytes stand for.

    Args:
        data: From :meth:`Encoder.encode`, or from somebody who says so.
        record: What is made of named tuples, dataclasses and members of enumerations.
        far: What is made of an array that was sent apart.
        other: What is made of what stands for a value that does not cross; without it there must be none.
        whole: Containers that are known from before; those that are made are added, as the encoder had them.

    Raises:
        MalformedError: No value is written so.
    """
    try:
        tree = _unpack(data)
        return tree if type(tree) in _READ else _Reader(record, far, other, whole).value(tree, 0)
    except MalformedError:
        raise
    except (
        msgspec.DecodeError,
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
        RecursionError,
        MemoryError,
    ) as error:
        raise MalformedError(f"bytes that stand for no value: {str(error)[:200]}") from error


@dataclass(slots=True)
class _Reader:
    record: Callable[[Record], Any]
    far: Callable[[Far], Any]
    other: Callable[[Any], Any] | None
    whole: list[Any] | None = None
    left: int = _MOST

    def value(self, tree: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > _DEEP + 2:
            raise MalformedError("a value of too many parts, or too deep")
        if type(tree) in _READ:
            return tree
        if not isinstance(tree, list):
            raise MalformedError(f"a {type(tree).__name__} that no value is written as")
        tag, *rest = tree
        made = self.made(tag, rest, depth)
        if self.whole is not None and tag in _CHANGING_TAGS:
            self.whole.append(made)
        return made

    def made(self, tag: Any, rest: list[Any], depth: int) -> Any:
        """The value of a tag and what follows it."""
        if tag in _MADE:
            (items,) = rest
            found = [self.value(item, depth + 1) for item in items]
            if tag in _HASHED:
                _spread(found)
            return _MADE[tag](found)
        if tag == "x":
            if self.other is None:
                raise MalformedError("something that does not cross by value")
            return self.other(rest[0])
        return self.tagged(tag, rest, depth)

    def tagged(self, tag: Any, rest: list[Any], depth: int) -> Any:
        def part(tree: Any) -> Any:
            return self.value(tree, depth + 1)

        if tag == "d":
            pairs = [(part(key), part(item)) for key, item in rest[0]]
            _spread([key for key, _item in pairs])
            return dict(pairs)
        if tag in ("nt", "dc", "E"):
            name, fields, values = rest
            named = dict(zip(map(str, fields), map(part, values), strict=True))
            return self.record(Record(tag, str(name), named))
        if tag == "k":
            if self.whole is None or rest[0] < 0:
                raise MalformedError("a container that is none")
            return self.whole[rest[0]]
        if tag == "far":
            return self.far(_far(*rest))
        if tag == "o":
            shape, items = rest
            made = np.empty(len(items), object)
            made[:] = [part(item) for item in items]
            return made.reshape(_shape(shape))
        if tag == "v":
            shape, names, fields = rest
            # fields are no values of their own
            each = [self.made(field[0], field[1:], depth + 1) for field in fields]
            return _records(_shape(shape), names, each)
        if tag in _PLAIN:
            return _PLAIN[tag](*rest)
        from .further import read

        return read(tag, rest, part)


def _spread(items: list[Any]) -> None:
    """Refuse what was chosen to fall on one place of a table, which would take for ever to make."""
    if len(items) > _ALIKE and len(items) - len(set(map(hash, items))) > _ALIKE:
        raise MalformedError("too many items of one hash")


def _shape(shape: Any) -> tuple[int, ...]:
    if not all(isinstance(n, int) and n >= 0 for n in shape) or len(shape) > 32:
        raise MalformedError("a shape that is none")
    return tuple(shape)


def _dtype(text: Any) -> np.dtype[Any]:
    dtype = np.dtype(str(text))
    if dtype.char not in _KINDS or dtype.fields:
        raise MalformedError(f"a dtype that does not cross: {str(text)[:40]}")
    return dtype


def _array(dtype: Any, shape: Any, data: bytes) -> Any:
    kind, sizes = _dtype(dtype), _shape(shape)
    if math.prod(sizes) * kind.itemsize != len(data):
        raise MalformedError("an array whose bytes do not fit its shape")
    if not kind.itemsize:
        if math.prod(sizes) > _MOST:
            raise MalformedError("an array of nothing, of too many items")
        return np.zeros(sizes, kind)
    return np.frombuffer(data, kind).reshape(sizes).copy()


def _records(shape: tuple[int, ...], names: Any, fields: list[Any]) -> Any:
    beyond = [each.shape[len(shape) :] for each in fields if each.shape[: len(shape)] == shape]
    if not fields or len(beyond) < len(fields):
        raise MalformedError("an array of records whose fields do not fit its shape")
    kinds = [(str(n), each.dtype, more) for n, each, more in zip(names, fields, beyond, strict=True)]
    made = np.empty(shape, kinds)
    for name, each in zip(names, fields, strict=True):
        made[name] = each
    return made


def _scalar(dtype: Any, data: bytes) -> Any:
    return _array(dtype, (), data)[()]


def _far(dtype: Any, shape: Any, index: Any) -> Far:
    return Far(_dtype(dtype).str, _shape(shape), int(index))


def _integer(digits: str) -> int:
    if len(digits) > 1_000_000:
        raise MalformedError("a number of too many digits")
    return int(digits, 16)


_MADE: Mapping[str, Callable[[Iterable[Any]], Any]] = {
    "l": list, "t": tuple, "s": set, "f": frozenset, "q": deque
}  # fmt: skip
_PLAIN: Mapping[str, Callable[..., Any]] = {
    "i": _integer,
    "c": complex,
    "r": range,
    "b": bytearray,
    "u": lambda points: "".join(map(chr, points)),
    "a": _array,
    "n": _scalar,
}
