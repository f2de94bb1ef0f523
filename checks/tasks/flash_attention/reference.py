"""Attention by its definition, and what known mistakes in the tiled recurrence give instead.

Source: Dao et al., FlashAttention (2022), Algorithm 1; Milakov and Gimelshein, Online
normalizer calculation for softmax (2018).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Factor", "attention", "largest_score", "logsumexp", "plain", "streamed"]

Array = npt.NDArray[np.floating]
Factor = Literal["reversed", "absent", "only l", "only O"]


def attention(q: Array, k: Array, v: Array, causal: bool) -> Array:
    """softmax(Q Kᵀ / √D) V in float64; a row that sees no key (every score −inf) is 0.

    Args:
        q: Queries (B, H, N, D).
        k: Keys, same shape; may hold −inf where the queries are positive.
        v: Values, same shape.
        causal: Whether query i sees keys up to i only.

    Returns:
        (B, H, N, D).
    """
    scores = _scores(q, k, causal)
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights @ v.astype(np.float64) / np.where(total > 0, total, 1))


def logsumexp(q: Array, k: Array, causal: bool, *, sharp: bool = False) -> Array:
    """The statistic m + log l of every row, in float64; -inf for a row that sees no key.

    Args:
        q: Queries (B, H, N, D).
        k: Keys, same shape.
        causal: Whether query i sees keys up to i only.
        sharp: Give the maximum m alone.

    Returns:
        (B, H, N).
    """
    scores = _scores(q, k, causal)
    top = scores.max(axis=-1)
    if sharp:
        return np.asarray(top)
    safe = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(scores - safe[..., None]).sum(axis=-1)))


def plain(q: Array, k: Array, v: Array, causal: bool, dtype: npt.DTypeLike) -> Array:
    """The same in ``dtype`` and in base two, with the scale on the queries: what sound code reaches.

    Returns:
        (B, H, N, D) in float64.
    """
    kind = np.dtype(dtype).type
    scores = (q.astype(kind) * kind(q.shape[-1] ** -0.5 * np.log2(math.e))) @ k.astype(kind).swapaxes(-1, -2)
    if causal:
        scores[..., _future(q.shape[-2])] = -np.inf
    top = scores.max(axis=-1, keepdims=True)
    weights = np.exp2(scores - np.where(np.isfinite(top), top, kind(0)))
    total = weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights @ v.astype(kind) / np.where(total > 0, total, kind(1)), dtype=np.float64)


def _scores(q: Array, k: Array, causal: bool) -> Array:
    q, k = q.astype(np.float64), k.astype(np.float64)
    scores: Array = (q @ k.swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
    if causal:
        scores[..., _future(q.shape[-2])] = -np.inf
    return scores


def _future(length: int) -> npt.NDArray[np.bool_]:
    return np.triu(np.ones((length, length), dtype=bool), 1)


def largest_score(q: Array, k: Array, causal: bool) -> float:
    """Largest magnitude among the finite scores: rounding errors of weights are proportional to it."""
    scores = np.abs(_scores(q, k, causal))
    return float(np.max(scores, initial=0.0, where=np.isfinite(scores)))


def streamed(q: Array, k: Array, v: Array, tile: int, causal: bool, factor: Factor) -> Array:
    """What the online recurrence gives with a wrong rescaling factor.

    Args:
        q: Queries (B, H, N, D).
        k: Keys, same shape.
        v: Values, same shape.
        tile: Keys per tile.
        causal: Whether query i sees keys up to i only.
        factor: ``reversed`` is exp(m_new − m_old), ``absent`` is 1; ``only l``, ``only O`` rescale one.

    Returns:
        (B, H, N, D).
    """
    scores = _scores(q, k, causal)
    m = np.full((*q.shape[:-1], 1), -np.inf)
    total, out = np.zeros_like(m), np.zeros(q.shape)
    for start in range(0, q.shape[-2], tile):
        part = scores[..., start : start + tile]
        new = np.maximum(m, part.max(axis=-1, keepdims=True))
        seen = np.isfinite(m)
        rise = np.where(seen, new - np.where(seen, m, 0), 0)
        right = np.where(seen, np.exp(-rise), 0)
        wrong = np.where(seen, np.exp(rise), 0) if factor == "reversed" else np.ones_like(m)
        weights = np.exp(part - new)
        total = total * (right if factor == "only l" else wrong) + weights.sum(axis=-1, keepdims=True)
        out = out * (right if factor == "only O" else wrong) + weights @ v[..., start : start + tile, :]
        m = new
    return np.asarray(out / total)
