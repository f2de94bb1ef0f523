"""Arrays in the order of memory that the trusted side states (``checks/strides.py``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["read_as"]


def read_as(data: Any, told: Mapping[str, Any]) -> Any:
    """A view of contiguous numbers as an array of other strides; as it is where nothing is stated.

    Args:
        data: What lies in memory, C-contiguous.
        told: ``axes`` (which axis of the array each axis of ``data`` is), ``flipped`` (axes of ``data`` that
            are read backwards), ``stepped`` (whether other numbers stand between).
    """
    if "axes" not in told:
        return data
    if told["stepped"] and data.ndim:
        wide = np.zeros((*data.shape[:-1], 2 * data.shape[-1]), data.dtype)
        wide[..., ::2] = data
        data = wide[..., ::2]
    turned = tuple(
        slice(None, None, -1) if axis in told["flipped"] else slice(None) for axis in range(data.ndim)
    )
    return data[turned].transpose(np.argsort(told["axes"]))
