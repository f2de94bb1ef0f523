"""What can be asked of an object over a border, carried out where the object is."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .below import contents
from .codec import MalformedError
from .specials import SPECIALS

if TYPE_CHECKING:
    from .side import Side

__all__ = ["OPERATE"]

__tracebackhide__ = True
_PARAMETERS = 200
_NONE: Mapping[str, Any] = {}


def _module(peer: Side, name: str) -> Any:
    return peer.rules.module(name)


def _get(peer: Side, value: Any, name: str) -> Any:
    return peer.rules.attribute(value, name)


def _set(peer: Side, value: Any, name: str, to: Any) -> None:
    setattr(value, name, to)


def _delete(peer: Side, value: Any, name: str) -> None:
    delattr(value, name)


def _dir(peer: Side, value: Any) -> list[str]:
    return [name for name in dir(value) if isinstance(name, str)]


def _call(peer: Side, value: Any, args: Any, kwargs: Any = _NONE) -> Any:
    made = value(*args, **kwargs)
    if isinstance(value, type):
        peer.crossing.made_by_class(made, value)
    return made


def _method(peer: Side, value: Any, name: str, args: Any, kwargs: Any = _NONE) -> Any:
    return peer.rules.attribute(value, name)(*args, **kwargs)


def _special(peer: Side, value: Any, name: str, args: Any) -> Any:
    if name not in SPECIALS:
        raise MalformedError("a special method that does not cross")
    if isinstance(value, type) and name == "__getitem__" and not hasattr(type(value), name):
        return value[args[0]]  # type: ignore[index]
    if (method := getattr(type(value), name, None)) is None:
        raise TypeError(f"'{getattr(value, '__name__', type(value).__name__)}' has no {name}")
    return method(value, *args)


def _class(peer: Side, number: int) -> Any:
    kind = peer.table.at(number)
    if not isinstance(kind, type):
        raise MalformedError("a class that is none")
    return peer.crossing.described(kind)


def _find(peer: Side, key: str) -> Any:
    return peer.rules.class_of(key)


def _signature(peer: Side, value: Any) -> Any:
    parameters = list(inspect.signature(value).parameters.values())[:_PARAMETERS]
    return [(each.name, int(each.kind), each.default is not each.empty) for each in parameters]


def _copied(peer: Side, value: Any) -> Any:
    return copy.copy(value)


def _deeply(peer: Side, value: Any) -> Any:
    return copy.deepcopy(value)


def _where(peer: Side, value: Any, name: str) -> Any:
    return peer.rules.where(value, name)


def _exit(peer: Side, value: Any, error: Any) -> Any:
    kind = None if error is None else type(error)
    return type(value).__exit__(value, kind, error, getattr(error, "__traceback__", None))


def _contents(peer: Side, value: Any) -> Any:
    return contents(value)


OPERATE: Mapping[str, Callable[..., Any]] = {
    "module": _module, "get": _get, "set": _set, "del": _delete, "dir": _dir, "call": _call,
    "method": _method, "special": _special, "class": _class, "find": _find, "signature": _signature,
    "copy": _copied, "deepcopy": _deeply, "where": _where, "exit": _exit,
    "contents": _contents,
}  # fmt: skip
