"""Online softmax, plain and in one head of tiled attention, right and wrong on purpose, for experiments."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = [
    "Rule", "Trace", "full_attention", "merged", "running", "tiled_attention", "tiles_at_minus_infinity",
]  # fmt: skip

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
#: How the running sums are carried to the next tile. ``upscale`` keeps the first tile's maximum as
#: reference and scales every new tile up to it; ``p only`` guards P against NaN and not the factor.
Rule = Literal["right", "reversed", "reversed, guarded", "no factor", "upscale", "p only"]


@dataclass
class Trace:
    """What was seen on the way.

    Attributes:
        largest: Largest running denominator.
        empty: Rows whose running and new maximum were both −inf, over all tiles.
        tiles: Tiles of scores that were computed.
    """

    largest: float = 0.0
    empty: int = 0
    tiles: int = 0


def full_attention(Q: Array, K: Array, V: Array, mask: Mask | None = None) -> Array:
    """Attention with a softmax over whole rows.

    Args:
        Q: Queries (N, D), float64.
        K: Keys (N, D).
        V: Values (N, D).
        mask: (N, N), true where a row sees a key; all of them when left out.

    Returns:
        (N, D), float64; rows that see no key are 0.
    """
    S = Q @ K.T / np.sqrt(Q.shape[1])
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    top = S.max(axis=1, keepdims=True)
    P = np.exp(S - np.where(np.isfinite(top), top, 0.0))
    total = P.sum(axis=1, keepdims=True)
    return np.asarray(P @ V / np.where(total > 0, total, 1.0))


def _factor(rule: Rule, m: Array, m_new: Array) -> Array:
    """What the rule scales the running sums by, from the old and the new maxima of the rows."""
    if rule == "no factor":
        return np.ones_like(m)
    if rule.startswith("reversed"):
        factor = np.exp(m_new - m)
        return np.where(np.isfinite(m), factor, 0.0) if "guarded" in rule else factor
    factor = np.exp(m - m_new)
    return factor if rule == "p only" else np.where(np.isfinite(m_new), factor, 1.0)


def tiled_attention(
    Q: Array,
    K: Array,
    V: Array,
    tile: int,
    rule: Rule = "right",
    mask: Mask | None = None,
    trace: Trace | None = None,
) -> Array:
    """Attention of one head, tile by tile with running maxima and sums.

    Args:
        Q: Queries (N, D), in the dtype that is computed in.
        K: Keys (N, D).
        V: Values (N, D).
        tile: Rows, and keys, of a tile.
        rule: How sums are carried to the next tile.
        mask: (N, N), true where a row sees a key; all of them when left out.
        trace: Takes down what is seen on the way.

    Returns:
        (N, D), in the dtype of the queries.
    """
    N, D = Q.shape
    trace = trace if trace is not None else Trace()
    kind = Q.dtype.type
    scale = kind(1.0 / np.sqrt(D))
    out = np.zeros((N, D), dtype=Q.dtype)
    with np.errstate(all="ignore"):
        for q in range(0, N, tile):
            rows = slice(q, min(q + tile, N))
            height = rows.stop - q
            m, total = np.full(height, kind(-np.inf)), np.zeros(height, kind)
            acc = np.zeros((height, D), kind)
            reference: Array | None = None
            for k in range(0, N, tile):
                S = Q[rows] @ K[k : k + tile].T * scale
                if mask is not None:
                    S = np.where(mask[rows, k : k + tile], S, kind(-np.inf))
                m_new = np.maximum(m, S.max(axis=1))
                trace.empty += int(np.sum(np.isinf(m_new)))
                trace.tiles += 1
                if rule == "upscale":
                    reference = m_new if reference is None else reference
                    P, factor = np.exp(S - reference[:, None]), np.ones_like(m)
                else:
                    P, factor = np.exp(S - m_new[:, None]), _factor(rule, m, m_new)
                    P = np.where(np.isfinite(m_new)[:, None], P, kind(0.0))
                total = total * factor + P.sum(axis=1)
                acc = acc * factor[:, None] + P @ V[k : k + tile]
                m = m_new
                finite = total[np.isfinite(total)]
                trace.largest = max(trace.largest, float(finite.max(initial=0.0)))
            out[rows] = acc / np.where(total == 0, kind(1.0), total)[:, None]
    return out


def tiles_at_minus_infinity(N: int, tile_q: int, tile_k: int, descending: bool) -> int:
    """How often causal attention meets a row that has seen no key at all.

    Args:
        N: Rows and keys.
        tile_q: Rows of a tile.
        tile_k: Keys of a tile.
        descending: The last keys come first, and no tile is skipped.

    Returns:
        Such rows, counted once per tile.
    """
    starts = range(0, N, tile_k)
    met = 0
    for q in range(0, N, tile_q):
        last = np.arange(q, min(q + tile_q, N))
        seen = np.zeros(len(last), bool)
        for k in reversed(starts) if descending else starts:
            if not descending and k > last[-1]:
                continue
            seen |= last >= k
            met += int(np.sum(~seen))
    return met


def running(x: Iterable[float]) -> tuple[float, float]:
    """Maximum m of a row and Σ exp(x − m), both kept up while the row is read once."""
    m, d = -math.inf, 0.0
    for value in x:
        m_new = max(m, float(value))
        d = d * math.exp(m - m_new) + math.exp(float(value) - m_new)
        m = m_new
    return m, d


def merged(parts: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Maximum and sum of a row, as :func:`running` has them, from those of its parts."""
    m, d = -math.inf, 0.0
    for m_part, d_part in parts:
        m_new = max(m, m_part)
        d = d * math.exp(m - m_new) + d_part * math.exp(m_part - m_new)
        m = m_new
    return m, d
