"""What a submission is handed follows what it takes: tensors, JAX arrays, or NumPy's as they are.

Asked only where such a framework was imported; what a call gives comes back as NumPy's.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["Framework", "taken_by"]

_NAMES = ("torch", "jax")
_DEEP = 16


class Framework:
    """A framework whose arrays a callable takes.

    Args:
        name: ``torch`` or ``jax``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._module: Any = sys.modules[name]

    @property
    def told(self) -> str:
        """Its name, and where Triton's kernels run if there may be any."""
        if "triton" not in sys.modules:
            return self.name
        interpreted = os.environ.get("TRITON_INTERPRET") == "1"
        return f"{self.name}, Triton's kernels {'in its interpreter' if interpreted else 'on the GPU'}"

    def given(self, value: Any) -> Any:
        """A value with NumPy's arrays as the framework's, sharing memory where that is possible."""
        return _mapped(value, self._of_numpy, np.ndarray)

    def back(self, value: Any) -> Any:
        """A value with the framework's arrays as NumPy's."""
        return _mapped(value, self._to_numpy, self._kind)

    @property
    def _kind(self) -> Any:
        return self._module.Tensor if self.name == "torch" else self._module.Array

    def _of_numpy(self, array: Any) -> Any:
        if self.name == "torch":
            return self._module.from_numpy(array) if array.dtype.kind in "fiub" else array
        return self._module.numpy.asarray(array)

    def _to_numpy(self, array: Any) -> Any:
        if self.name == "torch":
            array = array.detach().cpu()
            return (array.float() if array.dtype == self._module.bfloat16 else array).numpy()
        return np.asarray(array)


def taken_by(function: Any) -> Framework | None:
    """The framework whose arrays a callable takes: as its annotations say, else as its module imports one.

    Args:
        function: A function, method, class or object.
    """
    present = [name for name in _NAMES if name in sys.modules]
    if not present:
        return None
    plain = function if inspect.isroutine(function) or inspect.isclass(function) else type(function)
    for name in (*_annotated(function), *_imported(plain)):
        if name in present:
            return Framework(name)
    return None


def _annotated(function: Any) -> list[str]:
    try:
        notes = [param.annotation for param in inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return []
    told = [note if isinstance(note, str) else getattr(note, "__module__", "") or "" for note in notes]
    return [name for name in _NAMES for text in told if text.partition(".")[0] == name or f"{name}." in text]


def _imported(function: Any) -> list[str]:
    """Frameworks that the module of a callable imports, and those of its class's bases."""
    scope = getattr(inspect.unwrap(function), "__globals__", None)
    if scope is None:
        scope = vars(sys.modules.get(getattr(function, "__module__", ""), ModuleType("none")))
    bases = [base.__module__.partition(".")[0] for base in getattr(function, "__mro__", ())]
    found = [_top(value) for value in list(scope.values())]
    return [name for name in _NAMES if name in found or name in bases]


def _top(value: Any) -> str:
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""


def _mapped(value: Any, change: Callable[[Any], Any], kind: Any, depth: int = 0) -> Any:
    """A value whose arrays are changed, in the plain containers that hold them."""
    if isinstance(value, kind):
        return change(value)
    if depth > _DEEP:
        return value
    if type(value) in (list, tuple):
        return type(value)(_mapped(item, change, kind, depth + 1) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(item, change, kind, depth + 1) for item in value))
    if isinstance(value, Mapping) and type(value) is dict:
        return {key: _mapped(item, change, kind, depth + 1) for key, item in value.items()}
    return value
