"""The choice of where a submission's arrays live."""

from __future__ import annotations

from . import arrays
from .arrays import Arrays
from .host import HostArrays

__all__ = ["settle"]


def settle(name: str) -> Arrays:
    """Have arrays live in a module's memory from now on.

    Args:
        name: ``numpy``, or a module with CuPy's interface.

    Raises:
        ImportError: It cannot be imported.
        RuntimeError: It cannot compute.
    """
    place: Arrays = HostArrays()
    if name != "numpy":
        from .device import DeviceArrays

        place = DeviceArrays(name)
    arrays.use(place)
    return place
