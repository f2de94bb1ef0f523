"""Writes ``strict_cupy/names.json``: what the installed CuPy has, and which keywords its functions take.

Run it with an interpreter that has CuPy; neither a driver nor a device is needed::

    python tests/checks/doubles/list_names.py
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

TARGET = Path(__file__).parent / "strict_cupy" / "names.json"
_MODULES = ("", "linalg", "fft", "lib.stride_tricks")
#: Methods of element-wise functions, with what they are asked without a device.
_METHODS: dict[str, tuple[Any, ...]] = {
    "accumulate": (), "at": ([0], 1), "outer": (), "reduce": (), "reduceat": ([0],)
}  # fmt: skip
#: A parameter in the first line of a method's documentation: ``int axis=-1``.
_PARAMETER = re.compile(r"(\*?\w+)\s*(?:=|$)")


def parameters(function: Any) -> list[str] | None:
    """Names of a function's parameters; ``None`` where they cannot be read or it takes any keyword."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return None if any(p.kind is p.VAR_KEYWORD for p in found) else [p.name for p in found]


class _Anything:
    """An array that takes note of nothing: what is handed on to it is implemented."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None


def methods_of(function: Any) -> list[str]:
    """The methods that an element-wise function implements; outer needs a device, and is one of all's."""
    found = ["outer"]
    for name, arguments in _METHODS.items():
        try:
            if name != "outer":
                getattr(function, name)(_Anything(), *arguments)
                found.append(name)
        except NotImplementedError:
            continue
    return sorted(found)


def documented(method: Any) -> list[str] | None:
    """Names of a method's parameters, as the first line of its documentation has them."""
    line = (method.__doc__ or "").strip().partition("\n")[0]
    match = re.match(r"[\w.]+\((.*?)\)(?: ->.*)?$", line)
    if match is None or "self" not in match[1]:
        return None
    found = (_PARAMETER.search(part.strip()) for part in match[1].split(","))
    return [each[1] for each in found if each and each[1] != "self"]


def listed() -> dict[str, Any]:
    """Everything that the double needs to know of CuPy."""
    import cupy
    import numpy as np

    functions: dict[str, dict[str, Any]] = {}
    ufuncs: dict[str, list[str]] = {}
    for path in _MODULES:
        ours, theirs = np, cupy
        for part in path.split(".") if path else ():
            ours, theirs = getattr(ours, part), getattr(theirs, part)
        for name in dir(theirs):
            value = getattr(theirs, name)
            if name.startswith("_") or isinstance(value, (ModuleType, type)) or not hasattr(ours, name):
                continue
            if isinstance(value, cupy.ufunc):
                ufuncs[name] = methods_of(value)
            elif callable(value):
                functions.setdefault(path, {})[name] = parameters(value)
    methods = {
        name: documented(getattr(cupy.ndarray, name))
        for name in dir(cupy.ndarray) if hasattr(np.ndarray, name)
    }  # fmt: skip
    return {"cupy": cupy.__version__, "functions": functions, "ufuncs": ufuncs, "ndarray": methods}


if __name__ == "__main__":
    TARGET.write_text(json.dumps(listed(), indent=1, sort_keys=True) + "\n")
    print(TARGET)
