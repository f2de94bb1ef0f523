"""A double of CuPy for tests on a machine without a GPU: NumPy computes, CuPy's refusals hold.

It has what ``names.json`` says the listed CuPy has, with the parameters that its functions
take, and nothing else. Its arrays are no NumPy arrays: they refuse implicit conversion, mixing
with NumPy's arrays, lists where CuPy takes none, hashing and use as an index; what is out of
bounds wraps round, as it does in CuPy. Nothing here computes on a device, and a passed test says
nothing about one.
"""

from __future__ import annotations

import types

from . import cuda, modules
from .arrays import array, asanyarray, asarray, ascontiguousarray, ndarray
from .functions import NAMES, functions, ufunc, ufuncs

__version__ = f"double of {NAMES['cupy']}"
__all__ = ["array", "asanyarray", "asarray", "ascontiguousarray", "cuda", "ndarray", "ufunc"]

#: These take what comes from the host, which no other function does.
_ENTRIES = {
    "array": array, "asarray": asarray, "asanyarray": asanyarray, "ascontiguousarray": ascontiguousarray
}  # fmt: skip
globals().update(functions("") | ufuncs() | _ENTRIES)
linalg = modules.module("linalg")
fft = modules.module("fft")
lib = types.ModuleType("strict_cupy.lib")
lib.stride_tricks = modules.module("lib.stride_tricks")


def get_default_memory_pool() -> cuda.MemoryPool:
    """The pool of the one device."""
    return cuda.POOL
