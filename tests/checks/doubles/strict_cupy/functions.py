"""The double's functions: NumPy's of the same name, with CuPy's parameters and CuPy's operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import boxed, ndarray, operand, unboxed
from .names import NAMES

#: These take a sequence of arrays, and no numbers or lists in it.
_JOINING = frozenset({"concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"})
#: What CuPy calls a parameter that is one array; a list is refused there, unlike shapes and lists of arrays.
_ONE_ARRAY = frozenset({"a", "x", "x1", "m", "ar", "arr", "ary", "array", "p", "condition"})


class ufunc:
    """An element-wise function."""

    def __init__(self, name: str, methods: list[str]) -> None:
        self._function = getattr(np, name)
        self.__name__ = self.name = name
        for method in _METHODS:
            setattr(self, method, _method(self._function, method, name, method in methods))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute it."""
        if unknown := {k: v for k, v in kwargs.items() if k not in ("out", "_where", "dtype", "casting")}:
            raise TypeError(f"Wrong arguments {unknown}")
        outs = kwargs.get("out")
        where = operand(kwargs.pop("_where", True))
        given = {"where": where, **{k: unboxed(v) for k, v in kwargs.items()}}
        result = self._function(*(operand(value) for value in args), **given)
        return outs if isinstance(outs, ndarray) else boxed(result)


_METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")


def _method(function: Any, method: str, name: str, implemented: bool) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if not implemented:
            raise NotImplementedError(f"`cupy_{name}.{method}` is not supported yet")
        if method != "outer" and isinstance(args[0], list):
            raise AttributeError("'list' object has no attribute 'sum'")
        return boxed(getattr(function, method)(*unboxed(args), **unboxed(kwargs)))

    return call


def ufuncs() -> dict[str, ufunc]:
    """Every element-wise function that CuPy has."""
    return {name: ufunc(name, methods) for name, methods in NAMES["ufuncs"].items()
            if isinstance(getattr(np, name), np.ufunc)} | {
        name: _function(name, getattr(np, name), None) for name in NAMES["ufuncs"]
        if not isinstance(getattr(np, name), np.ufunc)
    }  # fmt: skip


def functions(path: str) -> dict[str, Callable[..., Any]]:
    """Every other function of one of CuPy's modules.

    Args:
        path: ``""``, ``linalg``, ….
    """
    source: Any = np
    for part in path.split(".") if path else ():
        source = getattr(source, part)
    return {
        name: _function(name, getattr(source, name), parameters)
        for name, parameters in NAMES["functions"].get(path, {}).items()
    }


def _function(name: str, function: Callable[..., Any], parameters: list[str] | None) -> Callable[..., Any]:
    one_array = bool(parameters) and parameters[0] in _ONE_ARRAY

    def call(*args: Any, **kwargs: Any) -> Any:
        for key in kwargs:
            if parameters is not None and key not in parameters and "args" not in parameters:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
        for value in args:
            if isinstance(value, np.ndarray) or (isinstance(value, (list, tuple)) and _of_numpy(value)):
                raise TypeError(f"Unsupported type {np.ndarray}")
        if one_array and args and isinstance(args[0], list):
            raise AttributeError(f"'list' object has no attribute '{name}'")
        if name in _JOINING and not all(isinstance(value, ndarray) for value in args[0]):
            raise TypeError("Only cupy arrays can be concatenated")
        out = kwargs.get("out")
        kwargs.pop("blocking", None)
        result = function(*unboxed(args), **unboxed(kwargs))
        if isinstance(out, ndarray):
            return out
        inputs = [value for value in args if isinstance(value, ndarray)]
        base = next((v for v in inputs if _is_view(result, v)), None)
        if base is not None and base.base is not None:
            base = base.base
        return boxed(result, base)

    call.__name__ = name
    return call


def _of_numpy(values: Any) -> bool:
    return any(isinstance(value, np.ndarray) for value in values)


def _is_view(result: Any, given: ndarray) -> bool:
    first = result[0] if isinstance(result, (tuple, list)) and result else result
    return isinstance(first, np.ndarray) and np.may_share_memory(first, given._held)
