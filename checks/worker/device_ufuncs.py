"""Element-wise functions with ``where=``, and with reductions that CuPy's have not, by what it has.

CuPy knows ``where`` of element-wise functions under a name of its own, and of their reductions sums and
products alone.

Source: NumPy reference, ``numpy.ufunc``; CuPy 14, ``cupy.ufunc``.
"""

from __future__ import annotations

from typing import Any

from .device_reductions import completed

__all__ = ["ElementWise"]

#: Element-wise function → the function that reduces by it.
_REDUCED_BY = {
    "add": "sum", "multiply": "prod", "maximum": "amax", "minimum": "amin", "logical_and": "all",
    "logical_or": "any",
}  # fmt: skip


class ElementWise:
    """One of the device's, called as NumPy's is.

    Args:
        name: NumPy's name of it.
        there: The device's own.
        package: CuPy, or a module with its interface.
    """

    def __init__(self, name: str, there: Any, package: Any) -> None:
        self._name, self._there, self._package = name, there, package

    def __call__(self, *args: Any, where: Any = True, **kwargs: Any) -> Any:
        """Call it."""
        if where is not True:
            kwargs["_where"] = where
        return self._there(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "reduce" and self._name in _REDUCED_BY:
            return self._reduce
        return getattr(self.__dict__["_there"], name)

    def _reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, **kwargs: Any) -> Any:
        reduced_by = _REDUCED_BY[self._name]
        if dtype is not None and reduced_by in ("sum", "prod"):
            kwargs["dtype"] = dtype
        elif dtype is not None:
            array = array.astype(dtype)
        return completed(reduced_by, getattr(self._package, reduced_by), self._package)(
            array, axis=axis, out=out, **kwargs
        )
