"""The threads of NumPy's products: one, as on a machine that judges alone.

The engine asks for one before NumPy is imported. A Dask worker without a nanny has imported NumPy by then,
and the last digits of a product hang on how many threads share it.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from pathlib import Path

__all__ = ["one_thread", "threads"]

_PREFIXES, _SUFFIXES = ("", "scipy_"), ("", "64_")


def one_thread() -> None:
    """Have OpenBLAS, where it is what NumPy computes with, share no product among threads."""
    for library in _libraries():
        for prefix in _PREFIXES:
            for suffix in _SUFFIXES:
                with suppress(AttributeError):
                    library[f"{prefix}openblas_set_num_threads{suffix}"](1)


def threads() -> int | None:
    """How many share a product now; ``None`` where OpenBLAS is not loaded."""
    for library in _libraries():
        for prefix in _PREFIXES:
            for suffix in _SUFFIXES:
                with suppress(AttributeError):
                    return int(library[f"{prefix}openblas_get_num_threads{suffix}"]())
    return None


def _libraries() -> list[ctypes.CDLL]:
    """OpenBLAS as this process has loaded it; none where the system does not tell."""
    found: dict[str, None] = {}
    with suppress(OSError), Path("/proc/self/maps").open(encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if "openblas" in path.rpartition("/")[2]:
                found[f"/{path}"] = None
    libraries = []
    for path in found:
        with suppress(OSError):
            libraries.append(ctypes.CDLL(path))
    return libraries
