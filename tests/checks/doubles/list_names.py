"""Writes ``strict_cupy/names.json``: what the installed CuPy has, and which keywords its functions take.

Run it with an interpreter that has CuPy; neither a driver nor a device is needed::

    python tests/checks/doubles/list_names.py
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import ModuleType
from typing import Any

TARGET = Path(__file__).parent / "strict_cupy" / "names.json"
_MODULES = ("", "linalg", "fft", "lib.stride_tricks")


def parameters(function: Any) -> list[str] | None:
    """Names of a function's parameters; ``None`` where they cannot be read or it takes any keyword."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return None if any(p.kind is p.VAR_KEYWORD for p in found) else [p.name for p in found]


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
                ufuncs[name] = sorted(
                    n for n in dir(value) if n in ("at", "accumulate", "outer", "reduce", "reduceat")
                )
            elif callable(value):
                functions.setdefault(path, {})[name] = parameters(value)
    methods = [name for name in dir(cupy.ndarray) if hasattr(np.ndarray, name)]
    return {"cupy": cupy.__version__, "functions": functions, "ufuncs": ufuncs, "ndarray": methods}


if __name__ == "__main__":
    TARGET.write_text(json.dumps(listed(), indent=1, sort_keys=True) + "\n")
    print(TARGET)
