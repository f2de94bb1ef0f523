"""What attention over a cache is told: where its queries stand, and how many of the keys are real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["STAND", "padded", "standing"]

Array = npt.NDArray[Any]
#: What says where the queries stand.
STAND = ("position", "positions", "first_positions", "row_positions", "query_positions")


def padded(arrays: Sequence[Array]) -> Array:
    """(1, G, S, D) arrays of several S behind each other, with zeros where the longest has more."""
    longest = max(array.shape[2] for array in arrays)
    room = [(0, 0), (0, 0)]
    return np.concatenate([np.pad(x, [*room, (0, longest - x.shape[2]), (0, 0)]) for x in arrays])


def standing(totals: Array, new: Array, queries: int) -> dict[str, Any]:
    """Where queries stand, as attention may be told it, and how many keys there are.

    Args:
        totals: (B,) keys that are real.
        new: (B,) how many of them the queries belong to; padding stands at the last of them.
        queries: That go in, of every sequence.
    """
    each = np.minimum((totals - new)[:, None] + np.arange(queries), np.maximum(totals - 1, 0)[:, None])
    longest = int(totals.max())
    return {
        "position": int(each[0, 0]), "positions": each[:, 0], "first_positions": each[:, 0],
        "row_positions": each[0], "query_positions": each, "length": longest, "totals": totals.copy(),
        "key_positions": np.tile(np.arange(longest), (len(totals), 1)),
    }  # fmt: skip
