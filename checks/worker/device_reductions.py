"""Reductions with ``initial=`` and ``where=``, which CuPy's have not, by those that it has.

Source: NumPy reference, ``numpy.ufunc.reduce``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["REDUCTIONS", "completed"]

#: Reduction → what a lane that is left out counts as; ``None`` where ``initial`` has to say so.
REDUCTIONS: dict[str, Any] = {
    "sum": 0, "prod": 1, "any": False, "all": True, "max": None, "min": None, "amax": None, "amin": None,
    "mean": 0,
}  # fmt: skip
_JOINED = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "amax": "maximum", "amin": "minimum"
}  # fmt: skip


def completed(name: str, reduce: Callable[..., Any], package: Any) -> Callable[..., Any]:
    """A reduction of the device that takes ``initial`` and ``where`` as well.

    Args:
        name: A key of :data:`REDUCTIONS`.
        reduce: The device's own.
        package: CuPy, or a module with its interface.
    """

    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        initial, where = kwargs.pop("initial", None), kwargs.pop("where", True)
        if initial is None and where is True:
            return reduce(a, *args, **kwargs)
        if initial is not None and a.size == 0:
            # Nothing is read: NumPy knows what shape comes of it.
            return package.asarray(
                getattr(np, name)(np.empty(a.shape, a.dtype), *args, initial=initial, **kwargs)
            )
        if where is not True:
            if name == "mean":
                lanes = package.where(where, a, a.dtype.type(0))
                seen = package.zeros(a.shape, a.dtype) + where
                return reduce(lanes, *args, **kwargs) / reduce(seen, *args, **kwargs)
            left_out = initial if REDUCTIONS[name] is None else REDUCTIONS[name]
            if left_out is None:
                raise ValueError(f"np.{name} has no identity, so to use where= one has to specify initial=")
            a = package.where(where, a, a.dtype.type(left_out))
        result = reduce(a, *args, **kwargs)
        return result if initial is None else getattr(package, _JOINED[name])(result, initial)

    return call
