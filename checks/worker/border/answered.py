"""What a call gave, as bytes: what NumPy takes for an array crosses as one."""

from __future__ import annotations

import array
from typing import Any

import numpy as np

from .codec import Encoder

__all__ = ["Answered"]

_BUFFERS = (memoryview, array.array)


class Answered(Encoder):
    """Writes answers: buffers and what says of itself how it is an array as NumPy's arrays."""

    __slots__ = ()

    def _otherwise(self, value: Any) -> Any:
        kind = type(value)
        says = hasattr(kind, "__array__") and not issubclass(kind, (np.ndarray, np.generic))
        if says or issubclass(kind, _BUFFERS):
            made = np.asarray(value)
            if type(made) is np.ndarray and made.dtype.kind != "O":
                return self.array(made, 0)
        return super()._otherwise(value)
