"""Tile geometry and tile-level scores, shared by both passes."""

from typing import Iterator, Optional

import numpy as np


def spans(stop: int, size: int) -> Iterator[slice]:
    """[0, stop) cut into slices of ``size``; the last one may be shorter."""
    for lo in range(0, stop, size):
        yield slice(lo, min(lo + size, stop))


def key_limit(rows: slice, n: int, causal: bool, key_lengths: Optional[np.ndarray]) -> int:
    """One past the last key that any query in ``rows`` can see, in any sequence."""
    limit = rows.stop if causal else n
    if key_lengths is not None:
        limit = min(limit, int(key_lengths.max(initial=0)))
    return limit


def tile_scores(
    q: np.ndarray,
    k: np.ndarray,
    rows: slice,
    cols: slice,
    scale: float,
    causal: bool,
    key_lengths: Optional[np.ndarray],
) -> np.ndarray:
    """Scaled and masked scores (B, H, rows, cols) of one tile."""
    with np.errstate(invalid="ignore"):
        s = np.einsum("bihd,bjhd->bhij", q, k, optimize=True) * q.dtype.type(scale)
    j = np.arange(cols.start, cols.stop)
    if causal and cols.stop - 1 > rows.start:
        i = np.arange(rows.start, rows.stop)
        s[:, :, j[None, :] > i[:, None]] = -np.inf
    if key_lengths is not None:
        padding = j[None, :] >= key_lengths[:, None]             # (B, cols)
        s = np.where(padding[:, None, None, :], s.dtype.type(-np.inf), s)
    return s


def finite_part(a: np.ndarray) -> np.ndarray:
    """``a`` with infinite entries set to 0 (their weight is exactly 0: avoid 0*inf)."""
    bad = np.isinf(a)
    return np.where(bad, a.dtype.type(0), a) if bad.any() else a
