"""What decides a test and was replaced: functions of pytest, unittest, NumPy's comparisons and our own.

Taken before anything of a submission runs, held against what is there while a test is called. It lies in
the submission's own process, so who knows this file gets past it; what is told is evidence.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

__all__ = ["Tampering"]

_MODULES = (
    *("unittest.case", "unittest.suite", "unittest.result", "numpy.testing", "numpy.testing._private.utils"),
    *("_pytest.python", "_pytest.runner", "_pytest.unittest", "_pytest.reports", "_pytest.outcomes"),
    *("_pytest.skipping", "_pytest.nodes", "_pytest.fixtures", "_pytest.python_api", "_pytest.raises"),
    *("_pytest.assertion.rewrite", "_pytest.assertion.util", "_pytest._code.code"),
    *("pluggy._hooks", "pluggy._callers", "pluggy._execution", "pluggy._manager", "pluggy._result"),
)
_OURS = ("capture", "hooks", "record", "session", "suite", "tampering", "wire")
_BUILTINS = (
    *("AssertionError", "BaseException", "Exception", "abs", "all", "any", "bool", "float", "isinstance"),
    *("len", "max", "min", "round", "sum"),
)
_COMPARISONS = ("all", "allclose", "any", "array_equal", "array_equiv", "isclose")


class _Entry(NamedTuple):
    """A function, class or method as it was: where it lies, itself, and what it runs."""

    label: str
    owner: Any
    name: str
    value: Any
    code: Any


class Tampering:
    """What is watched, as it is now.

    Args:
        namespace: What the submission gets for NumPy.
        package: Name of our own package.
    """

    def __init__(self, namespace: ModuleType, package: str) -> None:
        watched = [module for name in _MODULES if (module := _imported(name)) is not None]
        watched += [sys.modules[f"{package}.{name}"] for name in _OURS if f"{package}.{name}" in sys.modules]
        self._entries = [
            *(entry for module in watched for entry in _of_module(module)),
            *_named("builtins", builtins, _BUILTINS),
            *_named("numpy", namespace, _COMPARISONS),
        ]

    def found(self) -> list[str]:
        """Names of what is another by now."""
        return [
            entry.label
            for entry in self._entries
            if vars(entry.owner).get(entry.name) is not entry.value or _code(entry.value) is not entry.code
        ]


def _imported(name: str) -> ModuleType | None:
    """A module, where this version of its package has it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _of_module(module: ModuleType) -> Iterator[_Entry]:
    for name, value in list(vars(module).items()):
        if callable(value):
            yield _entry(f"{module.__name__}.{name}", module, name, value)
        if isinstance(value, type) and value.__module__ == module.__name__:
            for attribute, part in list(vars(value).items()):
                if callable(part) or isinstance(part, (staticmethod, classmethod, property)):
                    yield _entry(f"{module.__name__}.{name}.{attribute}", value, attribute, part)


def _named(label: str, owner: ModuleType, names: Iterable[str]) -> Iterator[_Entry]:
    for name in names:
        getattr(owner, name)  # a namespace keeps what was asked for
        yield _entry(f"{label}.{name}", owner, name, vars(owner)[name])


def _entry(label: str, owner: Any, name: str, value: Any) -> _Entry:
    return _Entry(label, owner, name, value, _code(value))


def _code(value: Any) -> Any:
    inner = getattr(value, "fget", None) or getattr(value, "__func__", value)
    return getattr(inner, "__code__", None)
