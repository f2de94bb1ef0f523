"""What a submission gets for NumPy where arrays live on a device: CuPy's functions under NumPy's names.

What is asked with no array of the device among the arguments is NumPy's business: scalars
stay NumPy's, and arrays that it makes are moved. What the device has not is refused by name.
Floating-point errors are not signalled there: ``errstate`` is NumPy's and acts on the host alone,
and asking it to raise is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from . import device_random
from .device_reductions import REDUCTIONS, completed
from .device_ufuncs import ElementWise
from .refusals import RefusedError

__all__ = ["Traffic", "build"]

#: Made on the device although no argument lives there; everything else that makes arrays is moved.
_MADE_THERE = frozenset({"zeros", "ones", "empty", "full", "eye", "identity", "arange", "linspace", "tri"})
#: They call Python for every element, which no device does; CuPy's namesake compiles a part of the language.
_PER_ELEMENT = frozenset({"vectorize", "frompyfunc"})
#: Objects that make arrays by being indexed.
_MAKERS = frozenset({"r_", "c_", "mgrid", "ogrid"})
#: Whole modules whose functions take what is brought to the host.
_ON_HOST = frozenset({"testing"})
#: Questions that need no array.
_HARMLESS = frozenset({"iterable", "isscalar", "typename", "issubdtype", "isdtype"})
_UFUNC_METHODS = ("reduce", "accumulate", "outer", "at", "reduceat")


class Traffic(Protocol):
    """How values come and go; a device's."""

    ndarray: type

    def holds(self, value: Any) -> bool:
        """Whether an array of the device is among the values."""

    def entered(self, value: Any) -> Any:
        """Arguments as the device's functions take them."""

    def left(self, name: str, operands: Any, result: Any, kwargs: dict[str, Any]) -> Any:
        """A result on its way to the submission, counted."""

    def moved(self, value: Any) -> Any:
        """What NumPy made, brought there."""

    def hosted(self, value: Any) -> Any:
        """What lives there, brought here."""


def build(package: ModuleType, traffic: Traffic) -> ModuleType:
    """The module that stands for NumPy inside a submission.

    Args:
        package: CuPy, or a module with its interface.
        traffic: How values come and go.
    """
    made: Any = _Namespace("numpy", np, package, traffic)
    made.ndarray = traffic.ndarray
    made.random = device_random.build(traffic.moved, traffic.hosted)
    made.errstate, made.seterr = _ErrState, _seterr
    for name in ("__file__", "__path__", "__loader__", "__package__", "__spec__", "__version__"):
        setattr(made, name, getattr(np, name))
    module: ModuleType = made
    return module


class _Namespace(ModuleType):
    """A module whose names are NumPy's and whose functions are the device's, until a submission sets one."""

    def __init__(self, name: str, host: Any, package: Any, traffic: Traffic) -> None:
        super().__init__(name, getattr(host, "__doc__", None))
        self._told = name.replace("numpy", "np", 1)
        self._host, self._package, self._traffic = host, package, traffic

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        value = getattr(own["_host"], name)
        found = self._found(name, value)
        own[name] = found
        return found

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._host), *(name for name in self.__dict__ if not name.startswith("_"))})

    def _found(self, name: str, value: Any) -> Any:
        there = getattr(self._package, name, None) if self._package is not None else None
        told = f"{self._told}.{name}"
        if isinstance(value, ModuleType):
            if name in _ON_HOST:
                return _OnHost(value, self._traffic)
            return _Namespace(f"{self.__name__}.{name}", value, there, self._traffic)
        if name in _MAKERS:
            return there if there is not None else value
        if name in _PER_ELEMENT:
            return _per_element(told, value, self._traffic)
        if isinstance(value, type):
            return value
        if not callable(value) or name.startswith("__") or name in _HARMLESS:
            return value
        if there is not None and self.__name__ == "numpy":
            if name in REDUCTIONS:
                there = completed(name, there, self._package)
            elif isinstance(there, self._package.ufunc):
                there = ElementWise(name, there, self._package)
        return Routed(told, name, value, there, self._traffic)


class Routed:
    """A function that goes to the device, or to NumPy where nothing of the device is among its arguments.

    Args:
        told: How a submission calls it, such as ``np.linalg.norm``.
        name: Its own name.
        host: NumPy's function.
        there: The device's; ``None`` where it has none.
        traffic: How values come and go.
    """

    def __init__(self, told: str, name: str, host: Callable[..., Any], there: Any, traffic: Traffic) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = host.__doc__
        self.__wrapped__ = host
        self._told, self._host, self._there, self._traffic = told, host, there, traffic

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        traffic = self._traffic
        on_device = traffic.holds((args, kwargs))
        if not on_device and (self._there is None or self.__name__ not in _MADE_THERE):
            return traffic.moved(self._host(*args, **kwargs))
        if self._there is None:
            raise RefusedError(self._told)
        operands = traffic.entered(args)
        try:
            result = self._there(*operands, **traffic.entered(kwargs))
        except Exception as error:
            # Told with the exception: its own text does not say which function it was.
            with contextlib.suppress(AttributeError, TypeError):
                error.asked_of_device = self._told  # type: ignore[attr-defined]
            raise
        out = kwargs.get("out")
        if out is not None and not isinstance(out, tuple):
            traffic.left(self.__name__, operands, result, kwargs)
            return out
        return traffic.left(self.__name__, operands, result, kwargs)

    def __getattr__(self, name: str) -> Any:
        host = getattr(self.__dict__["_host"], name)
        if name not in _UFUNC_METHODS:
            return host
        there = getattr(self._there, name, None)
        return Routed(f"{self._told}.{name}", name, host, there, self._traffic)

    def __repr__(self) -> str:
        return f"<{self._told} on the device>"


def _per_element(told: str, make: Callable[..., Any], traffic: Traffic) -> Callable[..., Any]:
    """``np.vectorize`` and its kind: for numbers and lists alone."""

    def made(*args: Any, **kwargs: Any) -> Any:
        function = make(*args, **kwargs)

        def call(*values: Any, **named: Any) -> Any:
            if traffic.holds((values, named)):
                raise RefusedError(told)
            return traffic.moved(function(*values, **named))

        return call

    return made


class _OnHost(ModuleType):
    """A module of NumPy's whose functions get what they are given brought to the host."""

    def __init__(self, module: ModuleType, traffic: Traffic) -> None:
        super().__init__(module.__name__, module.__doc__)
        self._module, self._traffic = module, traffic

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__dict__["_module"], name)
        if isinstance(value, (type, ModuleType)) or not callable(value):
            return value
        hosted = self._traffic.hosted

        def call(*args: Any, **kwargs: Any) -> Any:
            return value(*hosted(args), **hosted(kwargs))

        return call


class _ErrState(np.errstate):
    """NumPy's, for what is computed on the host; the device raises nothing, so asking for it is refused."""

    def __init__(self, **how: Any) -> None:
        _held_back("np.errstate", how)
        super().__init__(**how)


def _seterr(**how: Any) -> Any:
    _held_back("np.seterr", how)
    return np.seterr(**how)


def _held_back(told: str, how: dict[str, Any]) -> None:
    for kind, wish in how.items():
        if wish in ("raise", "call"):
            raise RefusedError(f"{told}({kind}={wish!r})")
