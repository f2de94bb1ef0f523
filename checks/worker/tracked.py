"""Arrays whose operators are counted: an ndarray subclass that computes as NumPy does, and spreads.

Every operation runs on plain views of the same memory, so values, dtypes, shapes and
memory orders are NumPy's own. Outside a counted call results are plain arrays again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .counters import active
from .products import PRODUCTS

__all__ = ["TrackedArray", "plain", "spread"]

#: Functions that call the submission back with parts of their argument, so those stay tracked.
_CALLING_BACK = frozenset({"apply_along_axis", "apply_over_axes", "piecewise", "multi_dot"})


class TrackedArray(np.ndarray):
    """A counted view of a plain array."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        outs = kwargs.get("out", ())
        if outs:
            kwargs["out"] = tuple(plain(out) for out in outs)
        if "where" in kwargs:
            kwargs["where"] = plain(kwargs["where"])
        operands = [plain(value) for value in inputs]
        result = getattr(ufunc, method)(*operands, **kwargs)
        counters = active()
        if counters is None or result is NotImplemented:
            return result
        first = result[0] if isinstance(result, tuple) else result
        if method == "__call__":
            counters.operation(ufunc.__name__, operands, first, kwargs.get("where", True))
        elif method != "at":
            counters.elements += int(np.size(operands[0]))
        if outs:
            return _with_outs(result, outs)
        return spread(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = getattr(func, "__name__", "")
        if name in _CALLING_BACK:
            return super().__array_function__(func, types, args, kwargs)
        out = kwargs.get("out")
        args = _plain_within(args)
        result = func(*args, **{key: _plain_within(value) for key, value in kwargs.items()})
        counters = active()
        if counters is None:
            return result
        if name in PRODUCTS:
            counters.operation(name, args, result)
        return out if isinstance(out, TrackedArray) else spread(result)

    def dot(self, other: Any, out: Any = None) -> Any:
        """As ``ndarray.dot``, which NumPy does not dispatch."""
        return np.dot(self, other) if out is None else np.dot(self, other, out)


def plain(value: Any) -> Any:
    """The plain view of a tracked array; anything else as it is."""
    return value.view(np.ndarray) if type(value) is TrackedArray else value


def _plain_within(value: Any, depth: int = 4) -> Any:
    """``value`` with the tracked arrays in its tuples, lists and dicts made plain."""
    if type(value) is TrackedArray:
        return value.view(np.ndarray)
    if depth and type(value) in (tuple, list):
        return type(value)(_plain_within(item, depth - 1) for item in value)
    if depth and type(value) is dict:
        return {key: _plain_within(item, depth - 1) for key, item in value.items()}
    return value


def spread(value: Any) -> Any:
    """A new result as a tracked array, its allocation noted; tuples and lists item by item."""
    if type(value) is np.ndarray:
        if (counters := active()) is not None:
            counters.allocation(value)
        return value.view(TrackedArray) if value.dtype.kind in "biufc" else value
    if type(value) in (tuple, list):
        return type(value)(spread(item) for item in value)
    return value


def _with_outs(result: Any, outs: tuple[Any, ...]) -> Any:
    """The arrays that were given as ``out``, where the result is one of them."""
    if not isinstance(result, tuple):
        return outs[0] if outs[0] is not None else spread(result)
    return tuple(out if out is not None else spread(item) for item, out in zip(result, outs, strict=True))
