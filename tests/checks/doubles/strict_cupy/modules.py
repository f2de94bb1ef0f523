"""CuPy's modules within the module: ``linalg``, ``fft``, ``lib.stride_tricks``."""

from __future__ import annotations

import types

from .functions import functions


def module(path: str) -> types.ModuleType:
    """One of them.

    Args:
        path: Its dotted path.
    """
    made = types.ModuleType(f"strict_cupy.{path}")
    vars(made).update(functions(path))
    return made
