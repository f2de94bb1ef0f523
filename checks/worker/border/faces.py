"""``submission``, as a test imports it: a module whose names are those of the module over there."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence, Set
from types import ModuleType
from typing import Any, Protocol

from .crossing import Face
from .rules import UnfitError
from .standins import StandIn, home_of

__all__ = ["NAME", "Absent", "Finder", "found_again"]

__tracebackhide__ = True
#: What tests import the submission as.
NAME = "submission"
_OVER_THERE = frozenset({"__all__", "__version__", "__doc__", "__author__"})


class Asked(Protocol):
    """Who answers for the submission."""

    def ask(self, op: str, *operands: Any) -> Any:
        """Ask something of an object of the submission's."""


class _Own(Face):
    """A module of the submission's.

    Args:
        name: As a test imports it.
        asked: Who answers for it.
    """

    def __init__(self, name: str, asked: Asked) -> None:
        super().__init__(name)
        vars(self)["__judge_asked__"] = asked
        del vars(self)["__doc__"]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _OVER_THERE:
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        if name == "pytest_plugins" or name.startswith("_pytest") or name == "pytestmark":
            raise AttributeError(name)
        try:
            value = vars(self)["__judge_asked__"].ask("get", self, name)
        except AttributeError:
            if name == "__all__":
                public = [each for each in dir(self) if not each.startswith("_")]
                # its time and threading would stand in for the test's
                return [each for each in public if not isinstance(getattr(self, each), ModuleType)]
            # As a module says it; where the other side stands says nothing of what it lacks.
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'") from None
        if isinstance(value, StandIn) and (home := home_of(value)).path is None:
            home.path = (self.__name__, name)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Face) or name.startswith("__"):
            vars(self)[name] = value
        else:
            vars(self)["__judge_asked__"].ask("set", self, name, value)

    def __delattr__(self, name: str) -> None:
        vars(self)["__judge_asked__"].ask("del", self, name)

    def __dir__(self) -> list[str]:
        return list(vars(self)["__judge_asked__"].ask("dir", self))


def found_again(path: tuple[str, str]) -> Any:
    """What a module of the submission's holds under a name, in the process that runs now."""
    return getattr(sys.modules[path[0]], path[1])


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``submission`` and its modules, before anything else that has the name.

    Args:
        asked: Who answers for it.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a name (the import system calls this)."""
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        if fullname != NAME:
            try:
                self._asked.ask("module", fullname)
            except ImportError:
                return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """The module that stands for it."""
        return _Own(spec.name, self._asked)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run here."""


class Absent:
    """Answers where there is no submission yet: whatever is asked for is there, and anything.

    Args:
        names: What tests take from it.
        modules: Those of its modules that they import.
    """

    def __init__(self, names: Sequence[str], modules: Set[str]) -> None:
        self._names, self._modules = names, modules

    def ask(self, op: str, *operands: Any) -> Any:
        """Anything; no module but ``submission`` itself."""
        if op == "module":
            if operands[0] in self._modules:
                return None
            raise ModuleNotFoundError(f"No module named '{operands[0]}'", name=operands[0])
        if op == "dir":
            return self._names
        name = operands[1] if op == "get" else ""
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(str(name))


class _Anything:
    """What a test file names while there is no submission."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "_pytest")) or name == "pytestmark":
            raise AttributeError(name)
        return _Anything(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Anything(self.__name__)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise UnfitError(
            f"a class is derived from the submission's {self.__name__}, which cannot cross into a test"
        )

    def __iter__(self) -> Any:
        return iter(())

    def __getitem__(self, item: Any) -> Any:
        return _Anything(self.__name__)

    def __index__(self) -> int:
        return 1

    def __or__(self, other: Any) -> Any:
        return _Anything(self.__name__)

    __ror__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __or__

    def __float__(self) -> float:
        return 1.0

    def __repr__(self) -> str:
        return self.__name__
