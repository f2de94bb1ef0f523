"""What stands in a value for something else, and what is raised of values that are none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Far", "MalformedError", "Record", "TooMuchError"]


class TooMuchError(ValueError):
    """A value of too many parts, too deep, or that holds itself."""


class MalformedError(ValueError):
    """Bytes that no value was written as."""


@dataclass(frozen=True, slots=True)
class Record:
    """A named tuple, a dataclass or an enumeration's member, where its class is not at hand.

    Attributes:
        kind: ``nt``, ``dc`` or ``E``.
        name: The class's.
        fields: Name → value, in their order.
    """

    kind: str
    name: str
    fields: Mapping[str, Any]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return (self.kind, self.name, dict(self.fields)) == (other.kind, other.name, dict(other.fields))

    def __hash__(self) -> int:
        return hash((self.kind, self.name))


@dataclass(frozen=True, slots=True)
class Far:
    """An array that was sent apart from the value that holds it.

    Attributes:
        dtype: As NumPy writes it.
        shape: Its shape.
        index: Which of those that were sent apart.
    """

    dtype: str
    shape: tuple[int, ...]
    index: int

    @property
    def nbytes(self) -> int:
        """Bytes of its items."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize
