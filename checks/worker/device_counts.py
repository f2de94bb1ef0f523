"""Counted arrays on a device: a subclass whose operators and methods count, as :mod:`.tracked` for NumPy.

Every operation runs on plain views of the same memory, so values, dtypes and shapes are the
device's own. Made once per process, of whatever array type the device has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .counters import active

__all__ = ["CountedKind", "counted_type"]

#: Operator → the name under which it is counted.
_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "power", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor",
}  # fmt: skip
_COMPARED = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
             "ne": "not_equal"}  # fmt: skip
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_METHODS = (
    "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "compress", "conj", "copy", "cumprod",
    "cumsum", "diagonal", "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "ravel", "repeat",
    "reshape", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose",
    "var",
)  # fmt: skip


class CountedKind:
    """The counted array type of one device.

    Args:
        plain: The device's own array type.
        counted: The subclass.
    """

    def __init__(self, plain: Any, counted: Any) -> None:
        self._plain, self._counted = plain, counted

    def is_one(self, value: Any) -> bool:
        """Whether a value is a counted array."""
        return type(value) is self._counted

    def of(self, array: Any) -> Any:
        """A counted view of a plain array."""
        return array.view(type=self._counted)

    def plain(self, value: Any) -> Any:
        """The plain view of a counted array; anything else as it is."""
        return value.view(type=self._plain) if type(value) is self._counted else value

    def spread(self, value: Any) -> Any:
        """A new result as a counted array, its allocation noted; tuples and lists item by item."""
        if type(value) is self._plain:
            if (counters := active()) is not None:
                counters.allocation(value)
            return self.of(value)
        if type(value) in (tuple, list):
            return type(value)(self.spread(item) for item in value)
        return value


def counted_type(package: Any) -> CountedKind:
    """Make the counted array type.

    Args:
        package: CuPy, or a module with its interface.
    """
    plain = package.ndarray
    counted = type("ndarray", (plain,), {"__module__": plain.__module__})
    kind = CountedKind(plain, counted)
    for word, name in {**_BINARY, **_COMPARED, **_UNARY}.items():
        _give(kind, counted, f"__{word}__", name)
    for word, name in _BINARY.items():
        _give(kind, counted, f"__r{word}__", name)
        _give(kind, counted, f"__i{word}__", name, in_place=True)
    for method in _METHODS:
        _give(kind, counted, method, method)
    _give(kind, counted, "__getitem__", "")
    for attribute in ("T", "mT", "real", "imag"):
        if hasattr(plain, attribute):
            setattr(counted, attribute, property(_part(kind, attribute)))
    # Equality is defined above, and Python takes the hash away with it, as the device's arrays have none.
    return kind


def _give(kind: CountedKind, counted: Any, word: str, name: str, *, in_place: bool = False) -> None:
    if not hasattr(counted, word):
        return
    setattr(counted, word, _counting(kind, word, name, in_place=in_place))


def _counting(kind: CountedKind, word: str, name: str, *, in_place: bool) -> Callable[..., Any]:
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        mine = kind.plain(self)
        given = [_plain_within(kind, value) for value in args]
        result = getattr(mine, word)(*given, **{k: _plain_within(kind, v) for k, v in kwargs.items()})
        if result is NotImplemented:
            return result
        counters = active()
        if counters is None:
            return result
        if name:
            operands = [*given, mine] if word.startswith("__r") else [mine, *given]
            counters.operation(name, operands, result)
        return self if in_place else kind.spread(result)

    call.__name__ = word
    return call


def _part(kind: CountedKind, attribute: str) -> Callable[[Any], Any]:
    def get(self: Any) -> Any:
        return kind.of(getattr(kind.plain(self), attribute))

    return get


def _plain_within(kind: CountedKind, value: Any) -> Any:
    """A value, or the index tuple or list that it is, with counted arrays made plain."""
    if type(value) in (tuple, list):
        return type(value)(kind.plain(item) for item in value)
    return kind.plain(value)
