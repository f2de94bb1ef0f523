"""Objects that are the same on both sides, and cross by name: built-in classes and functions, exceptions."""

from __future__ import annotations

import builtins
import math
import operator
import sys
import types
from typing import Any

import numpy as np

__all__ = ["name_of", "named", "nature"]

#: They reach past what they are given, or read and write files.
_NOT = frozenset(
    {
        *(
            "eval",
            "exec",
            "compile",
            "open",
            "__import__",
            "input",
            "breakpoint",
            "globals",
            "locals",
            "vars",
        ),
        *("getattr", "setattr", "delattr", "exit", "quit", "help", "copyright", "credits", "license", "dir"),
        *("__build_class__", "attrgetter", "methodcaller"),
    }
)
#: Modules whose exceptions decide what becomes of a test.
_DECIDING = frozenset({"unittest", "bdb", "doctest", "pdb"})
_SINGLE = {"builtins.Ellipsis": Ellipsis, "builtins.NotImplemented": NotImplemented}
_WHOLE = {"builtins": builtins, "operator": operator, "math": math, "numpy": np}
_FUNCTIONS = (types.BuiltinFunctionType, types.FunctionType, np.ufunc)

#: Built-in classes whose stand-ins say that they are of them: what ``inspect`` and ``isinstance`` look for.
_NATURES: dict[str, type] = {
    "builtins:function": types.FunctionType,
    "builtins:builtin_function_or_method": types.BuiltinFunctionType,
    "builtins:method": types.MethodType,
    "builtins:generator": types.GeneratorType,
    "builtins:module": types.ModuleType,
    "builtins:coroutine": types.CoroutineType,
    "builtins:async_generator": types.AsyncGeneratorType,
}


def nature(key: str) -> type | None:
    """The class that a stand-in says it is of, where that is a built-in one."""
    return _NATURES.get(key)


def name_of(value: Any) -> str | None:
    """The name by which the other side finds the same object; ``None`` where there is none."""
    if value is Ellipsis or value is NotImplemented:
        return "builtins.Ellipsis" if value is Ellipsis else "builtins.NotImplemented"
    kind = type(value)
    if not (issubclass(kind, type) or kind in _FUNCTIONS):
        return None
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if kind is np.ufunc:
        module, name = "numpy", value.__name__
    # what C accelerates
    module = {"_operator": "operator", "_thread": "threading"}.get(str(module), module)
    full = f"{module}.{name}"
    return full if named(full) is value else None


def named(full: Any) -> Any:
    """The object of a name; ``None`` where no object crosses by it."""
    if full in _SINGLE:
        return _SINGLE[full]
    module, _, name = str(full).rpartition(".")
    if name in _NOT or not name or "." in name:
        return None
    found = getattr(_WHOLE.get(module), name, None) if module in _WHOLE else None
    if found is None and module.partition(".")[0] in sys.stdlib_module_names - _DECIDING:
        # Nobody means what nobody imported.
        found = vars(sys.modules[module]).get(name) if module in sys.modules else None
        found = found if isinstance(found, type) else None
    return found if isinstance(found, (type, *_FUNCTIONS)) else None
