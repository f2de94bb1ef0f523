"""What a callable carries: variables that a function closes over, arguments that a partial call holds."""

from __future__ import annotations

import functools
import inspect
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ["closed", "reclosed"]


def closed(value: Any) -> dict[str, Any]:
    """Name → what a function, method or partial call carries; modules and empty cells left out."""
    if isinstance(value, functools.partial):
        return {**closed(value.func), **dict(zip(_bound(value), value.args, strict=True)), **value.keywords}
    return {name: cell.cell_contents for name, cell in _cells(value).items() if _filled(cell)}


def reclosed(value: Any, name: str, content: Any) -> Any:
    """The same callable with something else under a name; the given one stays as it is."""
    if isinstance(value, functools.partial):
        if name in value.keywords:
            return functools.partial(value.func, *value.args, **{**value.keywords, name: content})
        bound = _bound(value)
        if name not in bound:
            return functools.partial(reclosed(value.func, name, content), *value.args, **value.keywords)
        args = [content if key == name else item for key, item in zip(bound, value.args, strict=True)]
        return functools.partial(value.func, *args, **value.keywords)
    function = value.__func__ if isinstance(value, MethodType) else value
    cells = tuple(CellType(content) if key == name else cell for key, cell in _cells(value).items())
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, cells
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return MethodType(made, value.__self__) if isinstance(value, MethodType) else made


def _bound(value: functools.partial[Any]) -> list[str]:
    """Names of a partial call's positional arguments: the function's own where they can be read."""
    try:
        names = list(inspect.signature(value.func).parameters)
    except (TypeError, ValueError):
        names = []
    names += [f"args[{index}]" for index in range(len(names), len(value.args))]
    return names[: len(value.args)]


def _cells(value: Any) -> dict[str, CellType]:
    function = value.__func__ if isinstance(value, MethodType) else value
    if not isinstance(function, FunctionType) or function.__closure__ is None:
        return {}
    return dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))


def _filled(cell: CellType) -> bool:
    try:
        return not isinstance(cell.cell_contents, ModuleType)
    except ValueError:
        return False
