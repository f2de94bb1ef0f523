"""The array namespace that a submission gets for ``import numpy``: routes and counts.

Outside a counted call every name in it is NumPy's own object. During one, the functions
through which arrays enter or lose their type, and products and exponentials, are
replaced by ones that count and hand on; so are a submission's ``from numpy import …``.

What it counts comes from the untrusted side: it colours evidence, and never alone
decides a verdict that outputs can decide.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .counters import Counters, active
from .load import PACKAGE
from .products import PRODUCTS
from .tracked import TrackedArray, plain, spread

__all__ = ["Counters", "build", "tracked"]

_EXPONENTIALS = ("exp", "exp2", "expm1")
#: Functions that give plain arrays whatever they are given, or are given none.
_MAKERS = (
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "require",
    "copy",
    "frombuffer",
    "fromstring",
    "zeros",
    "ones",
    "empty",
    "full",
    "eye",
    "identity",
    "arange",
    "linspace",
    "tri",
    "fromiter",
    "indices",
)


def tracked(value: Any, counters: Counters) -> Any:
    """An array whose operators are counted too; other values, and arrays of odd kinds, as they are."""
    if type(value) is np.ndarray and value.dtype.kind in "biufc":
        return value.view(TrackedArray)
    return value


def build(counters: Counters) -> ModuleType:
    """The module that stands for NumPy inside a submission.

    Args:
        counters: They are told of every counted call that goes through the module.
    """
    namespace = _Namespace()
    routed = {name: _routed(name, getattr(np, name)) for name in _names()}
    counters.switches.append(functools.partial(_switch, namespace, routed))
    return namespace


class _Namespace(ModuleType):
    """A module whose every name is NumPy's, until a submission sets it."""

    def __init__(self) -> None:
        super().__init__("numpy", np.__doc__)
        for name in ("__file__", "__path__", "__loader__", "__package__", "__spec__", "__version__"):
            setattr(self, name, getattr(np, name))

    def __getattr__(self, name: str) -> Any:
        # Kept: a look-up through here costs many times a plain one, and more while allocations are traced.
        value = self.__dict__[name] = getattr(np, name)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(np), *self.__dict__})


def _names() -> list[str]:
    wanted = (*_EXPONENTIALS, *PRODUCTS, *_MAKERS)
    return [name for name in wanted if hasattr(np, name)]


def _switch(namespace: ModuleType, routed: dict[str, Callable[..., Any]], on: bool) -> None:
    """Put the counting functions in place of NumPy's, or NumPy's in place of those."""
    old = {name: function if not on else getattr(np, name) for name, function in routed.items()}
    new = {name: function if on else getattr(np, name) for name, function in routed.items()}
    for name in routed:
        # A name that the submission set to something of its own stays.
        if namespace.__dict__.get(name, old[name]) is old[name]:
            namespace.__dict__[name] = new[name]
    by_identity = {id(function): new[name] for name, function in old.items()}
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith(PACKAGE + "."):
            _rebind(getattr(module, "__dict__", {}), by_identity)


def _rebind(names: dict[str, Any], by_identity: dict[int, Any]) -> None:
    for name, value in list(names.items()):
        if id(value) in by_identity:
            names[name] = by_identity[id(value)]


def _routed(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    """``real`` with plain arrays made tracked on the way in and on the way out."""
    returns_argument = name.startswith(("as", "require"))

    @functools.wraps(real, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        counters = active()
        if counters is None:
            return real(*args, **kwargs)
        entered = [_entered(value) for value in args]
        result = real(*entered, **kwargs)
        first = entered[0] if entered else None
        if name in _EXPONENTIALS and not isinstance(first, TrackedArray):
            counters.operation(name, [first], result)
        elif name in PRODUCTS and not any(isinstance(value, TrackedArray) for value in entered):
            counters.operation(name, entered, result)
        # np.asarray gives its argument back when it fits, and code may rely on that.
        if returns_argument and type(first) is TrackedArray and _same_array(first, result):
            return args[0] if type(args[0]) is TrackedArray else first
        return spread(result)

    for attribute in ("reduce", "accumulate", "outer", "at", "reduceat", "nin", "nout", "types", "identity"):
        if isinstance(real, np.ufunc):
            setattr(call, attribute, getattr(real, attribute))
    return call


def _entered(value: Any) -> Any:
    return value.view(TrackedArray) if type(value) is np.ndarray and value.dtype.kind in "biufc" else value


def _same_array(one: Any, other: Any) -> bool:
    if not isinstance(other, np.ndarray):
        return False
    facts = plain(one).__array_interface__
    return bool(facts == plain(other).__array_interface__)
