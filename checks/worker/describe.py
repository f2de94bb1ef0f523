"""What an object is made of, in plain data: for binding, and for evidence about caches.

A path leads from an object to a part of it; each step is ``[kind, key]``:
``["i", 0]`` an item of a sequence, ``["k", "x"]`` a key of a mapping, ``["a", "name"]``
an attribute, ``["c", "name"]`` a variable that a function closes over or an argument that it is bound to.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections import deque
from collections.abc import Iterator
from itertools import islice
from types import FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from . import arrays
from .closed import closed

__all__ = [
    "NoPart", "Path", "attributes_beside", "children", "describe", "innermost", "inventory", "leaves",
    "locate", "own_class", "properties", "settable",
]  # fmt: skip

Path = list[list[Any]]

_CONTAINERS = (dict, list, tuple, deque)
_BUILT_IN = frozenset({*_CONTAINERS, np.ndarray})
#: Attributes of their classes are their own affair: masks of masked arrays, files behind mapped ones.
_LIBRARIES = frozenset({"numpy", "cupy", __name__.partition(".")[0]})
#: Methods that are called by an operator, and listed all the same.
_SPOKEN = frozenset({"__call__", "__delitem__"})
_BREADTH = 64
_DEEPEST = 64
_MOST_NODES = 20_000
_MAX_TEXT = 200
_MANY_BITS = 4096


class NoPart(LookupError):
    """A path leads nowhere."""


def locate(value: Any, path: Path) -> Any:
    """The part of ``value`` that ``path`` leads to.

    Raises:
        NoPart: There is no such part.
    """
    for kind, key in path:
        try:
            if kind == "a":
                value = getattr(value, key)
            elif kind == "c":
                value = closed(value)[key]
            else:
                value = value[key]
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise NoPart(f"no {_step(kind, key)} in a {type(value).__name__}") from error
    return value


def _step(kind: str, key: Any) -> str:
    return {"i": f"item {key}", "k": f"key {key!r}", "a": f"attribute .{key}", "c": f"variable {key}"}[kind]


def _attributes(value: Any) -> dict[str, Any]:
    found = dict(getattr(value, "__dict__", {}) or {})
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found[name] = getattr(value, name)
    return found


def own_class(value: Any) -> bool:
    """Whether it is a list, tuple, dict or array of a submission's own class."""
    cls = type(value)
    if cls in _BUILT_IN or cls.__module__.partition(".")[0] in _LIBRARIES:
        return False
    return isinstance(value, _CONTAINERS) or arrays.is_array(value)


def attributes_beside(value: Any) -> list[tuple[str, Any]]:
    """The attributes that an instance of a submission's own list, tuple, dict or array class has, by name."""
    if not own_class(value):
        return []
    fields = getattr(value, "_fields", ())
    # In a dict that is its own __dict__ every key is an attribute.
    keyed = value if isinstance(value, dict) else {}
    return [
        (name, part)
        for name, part in _attributes(value).items()
        if name not in fields and not (name in keyed and keyed[name] is part)
    ]


def children(value: Any) -> list[tuple[str, Any, Any]]:
    """The parts of a container as (kind, key, part), attributes behind the items; empty for a leaf."""
    parts = _items(value)
    if not isinstance(value, _CONTAINERS) or not (beside := attributes_beside(value)):
        return parts
    # An attribute that gives an item another name is no other part.
    known = {id(part) for _kind, _key, part in parts if arrays.is_array(part) or _items(part)}
    return parts + [("a", name, part) for name, part in beside if id(part) not in known]


def _items(value: Any, most: int | None = None) -> list[tuple[str, Any, Any]]:
    """What a container holds, as (kind, key, part); the first ones alone, where its end may be far."""
    if isinstance(value, (dict, MappingProxyType)):
        named = (("k", key, part) for key, part in value.items() if isinstance(key, (str, int)))
        return list(islice(named, most))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return [("a", name, getattr(value, name)) for name in value._fields]
    if isinstance(value, (list, tuple, deque)):
        return [("i", index, part) for index, part in enumerate(islice(value, most))]
    if _boxes(value):
        return [("i", index, part) for index, part in enumerate(islice(value, most))]
    if arrays.is_array(value) or isinstance(
        value, (np.generic, str, bytes, int, float, complex, type, ModuleType, type(None))
    ):
        return []
    if isinstance(value, (FunctionType, MethodType, functools.partial)):
        return [("c", name, part) for name, part in closed(value).items()]
    if callable(value) and not hasattr(value, "__dict__"):
        return []
    return [("a", name, part) for name, part in _attributes(value).items()]


def _boxes(value: Any) -> bool:
    """Whether it is an array of objects that holds arrays or containers: a list by another name."""
    if not isinstance(value, np.ndarray) or value.dtype != object or value.ndim == 0:
        return False
    return any(
        arrays.is_array(part) or isinstance(part, _CONTAINERS) for part in islice(value.flat, _BREADTH)
    )


def properties(value: Any) -> list[tuple[str, Any]]:
    """What the public properties of an object give, as (name, value); one that raises is left out."""
    found: list[tuple[str, Any]] = []
    for cls in type(value).__mro__:
        for name, member in vars(cls).items():
            if isinstance(member, (property, functools.cached_property)) and not name.startswith("_"):
                with contextlib.suppress(Exception):
                    found.append((name, getattr(value, name)))
    return found


def settable(value: Any) -> list[list[Any]]:
    """Public properties of an object that can be assigned to, as ``parts`` of :func:`describe`."""
    members = {name: member for cls in reversed(type(value).__mro__) for name, member in vars(cls).items()}
    assigned = {n for n, member in members.items() if isinstance(member, property) and member.fset}
    return [["a", name, describe(part, depth=0)] for name, part in properties(value) if name in assigned]


def _leaf(value: Any) -> dict[str, Any]:
    if arrays.is_array(value):
        if value.ndim == 0 and not isinstance(value, np.ndarray):
            # A device gives an array where NumPy gives a number.
            return _leaf(arrays.hosted(value)[()])
        return {
            "kind": "array",
            "shape": list(value.shape),
            "dtype": str(value.dtype),
            "nbytes": value.nbytes,
        }
    if isinstance(value, np.generic):
        return {
            "kind": "scalar",
            "dtype": str(value.dtype),
            "nbytes": value.nbytes,
            "value": _plain(value.item()),
        }
    if value is None:
        return {"kind": "none"}
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return {"kind": kind.__name__, "value": _plain(value)}
    if callable(value):
        named = getattr(value, "__name__", type(value).__name__)
        return {"kind": "callable", "type": named, "params": _params(_decorated(value))}
    return {"kind": "object", "type": type(value).__name__}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        # Python writes no numbers of thousands of digits as decimals
        return (str(value) if value.bit_length() < _MANY_BITS else hex(value))[:_MAX_TEXT]
    return value if isinstance(value, (bool, int, float, type(None))) else str(value)[:_MAX_TEXT]


def describe(value: Any, depth: int = 5) -> dict[str, Any]:
    """A tree of kinds, shapes and dtypes, at most ``depth`` deep, 64 wide and 20,000 parts in all.

    Returns:
        ``{"kind": …}``; containers have ``"parts": [[kind, key, tree], …]`` and ``"count"``.
    """
    return _described(value, depth, frozenset(), [_MOST_NODES])


def _described(value: Any, depth: int, seen: frozenset[int], left: list[int]) -> dict[str, Any]:
    # What a sequence answers is its items: its attributes show where there are none.
    parts = (
        (_items(value, _BREADTH) or children(value))[:_BREADTH] if depth > 0 and id(value) not in seen else []
    )
    tree = _leaf(value)
    if isinstance(value, (dict, list, tuple)):
        tree["kind"] = "tuple" if isinstance(value, tuple) else type(value).__name__
        tree["count"] = len(value)
    elif _boxes(value):
        tree = {"kind": "list", "count": len(value)}
    left[0] -= len(parts)
    if parts and left[0] > 0:
        seen = seen | {id(value)}
        tree["parts"] = [[kind, key, _described(part, depth - 1, seen, left)] for kind, key, part in parts]
    return tree


def leaves(value: Any, depth: int = 8) -> Iterator[tuple[Path, Any]]:
    """Every array and scalar under ``value`` with its path; cycles are cut."""
    yield from _leaves(value, [], depth, set())


def _leaves(value: Any, path: Path, depth: int, seen: set[int]) -> Iterator[tuple[Path, Any]]:
    parts = children(value)
    scalar = isinstance(value, (np.generic, bool, int, float))
    if scalar or (arrays.is_array(value) and not parts) or (value is None and path):
        yield path, value
        return
    if not parts or depth == 0 or id(value) in seen:
        return
    seen.add(id(value))
    # A flat list of numbers is one entry, not thousands.
    if isinstance(value, (list, tuple)) and len(value) > _BREADTH and _numeric(value):
        yield path, value
        parts = [part for part in parts if part[0] == "a"]
    for kind, key, part in parts:
        yield from _leaves(part, [*path, [kind, key]], depth - 1, seen)


def innermost(value: Any) -> Any:
    """The first item of the first item, and so on; of what holds itself, some way down."""
    for _ in range(_DEEPEST):
        if not (isinstance(value, (list, tuple)) and value):
            break
        value = value[0]
    return value


def _numeric(value: Any) -> bool:
    value = innermost(value)
    return isinstance(value, (int, float))


def inventory(module: ModuleType) -> dict[str, Any]:
    """The functions, classes and objects that a module itself defines.

    Returns:
        ``{"functions": […], "classes": […], "objects": […], "called": […]}``; a function, and an object
        that is ``called`` like one, has ``name``, ``line``, ``doc`` and ``params`` (``name``, ``kind``,
        ``default`` when there is one, ``text`` where that is a text and whole, ``annotation``); a class has
        ``methods`` and the params of its constructor.
    """
    functions: list[dict[str, Any]] = []
    classes: list[dict[str, Any]] = []
    objects: list[dict[str, Any]] = []
    called: list[dict[str, Any]] = []
    for name, value in list(vars(module).items()):
        if name.startswith("__"):
            continue
        home = getattr(value, "__module__", None)
        if inspect.isclass(value):
            if home == module.__name__:
                classes.append(_class(name, value))
        elif inspect.isroutine(value):
            if home == module.__name__:
                functions.append(_function(name, value))
        elif str(getattr(type(value), "__module__", "")).startswith("submission"):
            objects.append({"name": name, "type": type(value).__name__})
            called += [_function(name, value)] if callable(value) else []
        elif isinstance(value, functools.partial):
            called.append(_function(name, value))
    return {"functions": functions, "classes": classes, "objects": objects, "called": called}


def _decorated(value: Any) -> Any:
    """What a decorator hides: the one function that one of ``(*args, **kwargs)`` closes over."""
    for _ in range(8):
        code = getattr(value, "__code__", None)
        if code is None or hasattr(value, "__wrapped__") or code.co_argcount or code.co_kwonlyargcount:
            break
        inner = [part for _kind, _name, part in children(value) if isinstance(part, FunctionType)]
        if len(inner) != 1 or not code.co_flags & inspect.CO_VARARGS:
            break
        value = inner[0]
    return value


def _function(name: str, value: Any) -> dict[str, Any]:
    value = _decorated(value)
    code = getattr(inspect.unwrap(value), "__code__", None) or getattr(_behind(value), "__code__", None)
    return {
        "name": name,
        "line": code.co_firstlineno if code else 0,
        "doc": (getattr(value, "__doc__", None) or "").strip().partition("\n")[0][:_MAX_TEXT],
        "params": _params(value),
    }


def _behind(value: Any) -> Any:
    """The function behind an object that is called like one."""
    if isinstance(value, functools.partial):
        return value.func
    return inspect.getattr_static(type(value), "__call__", None)


def _params(value: Any) -> list[dict[str, Any]] | None:
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    found = []
    for param in signature.parameters.values():
        entry: dict[str, Any] = {"name": param.name, "kind": param.kind.name}
        if param.default is not param.empty:
            entry["default"] = _plain(param.default)
            if isinstance(param.default, str) and len(param.default) <= _MAX_TEXT:
                entry["text"] = True
        if param.annotation is not param.empty:
            note = param.annotation
            entry["annotation"] = (note if isinstance(note, str) else getattr(note, "__name__", str(note)))[
                :_MAX_TEXT
            ]
        found.append(entry)
    return found


def _class(name: str, value: type) -> dict[str, Any]:
    methods = []
    for key in dir(value):
        member = inspect.getattr_static(value, key, None)
        static = isinstance(member, (staticmethod, classmethod))
        if (key.startswith("__") and key not in _SPOKEN) or not (inspect.isfunction(member) or static):
            continue
        methods.append({**_function(key, getattr(value, key)), "static": static})
    init = getattr(inspect.getattr_static(value, "__init__", None), "__code__", None)
    line = init.co_firstlineno if init else min((m["line"] for m in methods), default=0)
    return {
        "name": name,
        "line": line,
        "doc": (value.__doc__ or "").strip().partition("\n")[0][:_MAX_TEXT],
        "bases": [base.__name__ for base in value.__mro__[1:-1]],
        "params": _params(value),
        "methods": methods,
    }
