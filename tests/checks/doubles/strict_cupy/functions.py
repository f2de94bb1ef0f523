"""The double's functions: NumPy's of the same name, with CuPy's parameters and CuPy's operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arrays import boxed, ndarray, operand, unboxed
from .names import NAMES

#: What CuPy calls a parameter that is one array; a list is refused there, unlike shapes and lists of arrays.
_ONE_ARRAY = frozenset({"a", "x", "x1", "m", "ar", "arr", "ary", "array", "p", "condition"})


class ufunc:
    """An element-wise function."""

    def __init__(self, name: str, methods: list[str]) -> None:
        self._function = getattr(np, name)
        self.__name__ = self.name = name
        for method in methods:
            setattr(self, method, _method(self._function, method, name))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute it."""
        if unknown := set(kwargs) - {"out", "where", "dtype", "casting", "axis"}:
            raise TypeError(f"{self.name}() got an unexpected keyword argument '{min(unknown)}'")
        outs = kwargs.get("out")
        given = {k: (operand(v) if k in ("where",) else unboxed(v)) for k, v in kwargs.items()}
        result = self._function(*(operand(value) for value in args), **given)
        return outs if isinstance(outs, ndarray) else boxed(result)


#: Which ufunc methods CuPy implements for which functions, as its documentation has it.
_IMPLEMENTED = {
    "accumulate": {"add", "multiply"},
    "reduceat": {"add"},
    "at": {"add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"},
    "reduce": {"add", "multiply", "maximum", "minimum", "logical_and", "logical_or"},
}


def _method(function: Any, method: str, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if name not in _IMPLEMENTED.get(method, {name}):
            raise NotImplementedError(f"`{name}.{method}` is not supported yet")
        for value in args:
            if isinstance(value, np.ndarray):
                raise TypeError(f"Unsupported type {type(value)}")
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
            raise TypeError(f"Unsupported type {type(args[0])}")
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
