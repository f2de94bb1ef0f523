"""A row with the indices that came for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["Indices", "Row"]

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """A row with the indices that came for it, all of them in range and none twice.

    Attributes:
        logits: (V,) float32.
        indices: (K,).
        number: Of the row in its launch.
        launch: All logits of the launch (rows, V).
    """

    logits: npt.NDArray[np.float32]
    indices: Indices
    number: int
    launch: npt.NDArray[np.float32]

    @property
    def count(self) -> int:
        """Number of entries, K."""
        return len(self.indices)

    @cached_property
    def order(self) -> Indices:
        """The right indices, of equal logits the first."""
        return np.argsort(-self.logits, kind="stable")[: self.count]

    @cached_property
    def picked(self) -> npt.NDArray[np.float32]:
        """The logits that were chosen."""
        return self.logits[self.indices]

    @cached_property
    def right(self) -> bool:
        """Whether these are the sorted top-k."""
        return bool((self.picked == self.logits[self.order]).all())

    @cached_property
    def missing(self) -> Indices:
        """Of the K largest those that are missing: all that are larger than the least one that was chosen."""
        lost = np.setdiff1d(self.order, self.indices)
        return np.asarray(lost[self.logits[lost] > self.picked.min()])

    @property
    def falls(self) -> bool:
        """Whether what was chosen comes largest first."""
        return bool((self.picked[1:] <= self.picked[:-1]).all())

    @property
    def edge(self) -> int:
        """How many of its logits lie in front of its first 16-byte boundary."""
        return -self.number * len(self.logits) % 4
