"""Online softmax, plain and in one head of tiled attention, right and wrong on purpose, for experiments."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

__all__ = [
    "RULES", "Trace", "full_attention", "merged", "running", "tiled_attention", "tiles_at_minus_infinity",
]  # fmt: skip

#: How the running sums are carried to the next tile. ``upscale`` keeps the first tile's maximum as
#: reference and scales every new tile up to it; ``p only`` guards P against NaN and not the factor.
RULES = ("right", "reversed", "reversed, guarded", "no factor", "upscale", "p only")


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


def full_attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Softmax over whole rows, in float64; Q, K, V (N, D); rows that see no key are 0."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    if mask is not None:
        S = np.where(mask, S, -np.inf)
    top = S.max(axis=1, keepdims=True)
    P = np.exp(S - np.where(np.isfinite(top), top, 0.0))
    total = P.sum(axis=1, keepdims=True)
    return P @ V / np.where(total > 0, total, 1.0)


def _factor(rule: str, m: np.ndarray, m_new: np.ndarray) -> np.ndarray:
    if rule == "no factor":
        return np.ones_like(m)
    if rule.startswith("reversed"):
        factor = np.exp(m_new - m)
        return np.where(np.isfinite(m), factor, 0.0) if "guarded" in rule else factor
    factor = np.exp(m - m_new)
    return factor if rule == "p only" else np.where(np.isfinite(m_new), factor, 1.0)


def tiled_attention(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    tile: int,
    rule: str = "right",
    mask: np.ndarray | None = None,
    trace: Trace | None = None,
) -> np.ndarray:
    """Attention by the rule; Q, K, V (N, D), mask (N, N) of the keys that a row sees."""
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
            reference: np.ndarray | None = None
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
    """Rows, counted once per tile, that causal attention meets while it has seen no key at all."""
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
    """Maximum and sum of exponentials below it, kept while a row is read once."""
    m, d = -math.inf, 0.0
    for value in x:
        m_new = max(m, float(value))
        d = d * math.exp(m - m_new) + math.exp(float(value) - m_new)
        m = m_new
    return m, d


def merged(parts: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Maximum and sum of a row from those of its parts."""
    m, d = -math.inf, 0.0
    for m_part, d_part in parts:
        m_new = max(m, m_part)
        d = d * math.exp(m - m_new) + d_part * math.exp(m_part - m_new)
        m = m_new
    return m, d
