"""bfloat16 where NumPy has no such type: float32 numbers of which the upper sixteen bits count.

Source: IEEE 754 binary32; Intel, BFLOAT16 – Hardware Numerics Definition (2018): rounded half to even.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Bfloat16", "bits", "rounded"]


class Bfloat16(np.ndarray[Any, np.dtype[np.float32]]):
    """float32 numbers that bfloat16 holds; a worker is handed them in that type."""


def rounded(values: npt.ArrayLike) -> Bfloat16:
    """Numbers as bfloat16 holds them.

    Args:
        values: Any shape, any real dtype; what is over 3.39e38 becomes infinite.

    Returns:
        float32, same shape.
    """
    single = np.array(values, np.float32)
    with np.errstate(invalid="ignore"):
        whole = single.view(np.uint32)
        near = whole + (np.uint32(0x7FFF) + (whole >> np.uint32(16) & np.uint32(1)))
        kept = np.where(np.isnan(single), whole | np.uint32(0x400000), near) & np.uint32(0xFFFF0000)
    return kept.astype(np.uint32).view(np.float32).view(Bfloat16)


def bits(values: Bfloat16) -> npt.NDArray[np.uint16]:
    """The sixteen bits of each number.

    Args:
        values: Any shape.

    Returns:
        C-contiguous, same shape.
    """
    whole = np.ascontiguousarray(values).view(np.uint32)
    return np.ascontiguousarray((whole >> np.uint32(16)).astype(np.uint16))
