"""Causal attention in float64: the truth that every decode step is held against, and its usual mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "MISTAKES",
    "ONLY_THE_FIRST",
    "ORDERLY",
    "Mistake",
    "attention",
    "causal_rows",
    "diagnosis",
    "nearly",
    "plain",
]

Array = npt.NDArray[Any]


def attention(
    q: Array, k: Array, v: Array, *, visible: Array | None = None, scale: float | None = None
) -> Array:
    """softmax(q kᵀ / √D) v in float64.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D); G divides H, and head h reads group h // (H / G).
        v: As k.
        visible: (T, S) bool, which keys a row sees; all of them when left out.
        scale: Instead of 1/√D.

    Returns:
        (B, H, T, D), float64.
    """
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    return _attention(q, k, v, visible, scale)


def plain(
    q: Array, k: Array, v: Array, *, visible: Array | None = None, dtype: npt.DTypeLike = np.float32
) -> Array:
    """The same in a narrower dtype: the error that sound code makes."""
    q, k, v = (np.asarray(x, dtype) for x in (q, k, v))
    return _attention(q, k, v, visible, None).astype(np.float64)


def _attention(q: Array, k: Array, v: Array, visible: Array | None, scale: float | None) -> Array:
    group = q.shape[1] // k.shape[1]
    if group > 1:
        k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    factor = np.asarray(1.0 / np.sqrt(q.shape[-1]) if scale is None else scale, q.dtype)
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) * factor
    if visible is not None:
        scores = np.where(visible, scores, -np.inf)
    scores = scores - scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    return np.asarray(np.matmul(weights / weights.sum(axis=-1, keepdims=True), v))


def causal_rows(tokens: int, stored: int) -> Array:
    """(tokens, stored) bool: the last ``tokens`` of ``stored`` positions see themselves and what precedes."""
    return np.arange(stored)[None, :] <= np.arange(stored - tokens, stored)[:, None]


def _zero_slots(q: Array, k: Array, v: Array) -> Array:
    empty = np.zeros((*k.shape[:2], 1, k.shape[3]))
    return attention(q, np.concatenate([k, empty], 2), np.concatenate([v, empty], 2))


def _swapped(values: Array) -> Array:
    return np.concatenate([values[:, :, :-2], values[:, :, -1:], values[:, :, -2:-1]], axis=2)


#: Of what tokens weigh with scores of 0, the least that slots which hold nothing are seen to weigh.
_FAINT = 1e-3
#: What queries that stand at the first key see.
ONLY_THE_FIRST = "only the first token is attended to"


@dataclass(frozen=True, slots=True)
class Mistake:
    """What a wrong decode step often is.

    Attributes:
        words: For people.
        made: The attention that it equals; q is one token, k and v all stored.
        orderly: Whether neither a misread axis order nor a misplaced advance can cause it.
    """

    words: str
    made: Callable[[Array, Array, Array], Array]
    orderly: bool = False


#: In this order: the first that a step equals is what is told.
MISTAKES = (
    Mistake("the scores are not scaled by 1/√D", lambda q, k, v: attention(q, k, v, scale=1.0), True),
    Mistake(
        "the scores are scaled by 1/D", lambda q, k, v: attention(q, k, v, scale=1.0 / q.shape[-1]), True
    ),
    Mistake(
        "the scores are scaled by 1/√(H·D)",
        lambda q, k, v: attention(q, k, v, scale=1.0 / np.sqrt(q.shape[1] * q.shape[-1])),
        True,
    ),
    Mistake(
        "the scores are multiplied by √D",
        lambda q, k, v: attention(q, k, v, scale=np.sqrt(q.shape[-1])),
        True,
    ),
    Mistake("the newest token is not attended to", lambda q, k, v: attention(q, k[:, :, :-1], v[:, :, :-1])),
    Mistake("the first token is not attended to", lambda q, k, v: attention(q, k[:, :, 1:], v[:, :, 1:])),
    Mistake("only the newest token is attended to", lambda q, k, v: attention(q, k[:, :, -1:], v[:, :, -1:])),
    Mistake(ONLY_THE_FIRST, lambda q, k, v: attention(q, k[:, :, :1], v[:, :, :1])),
    Mistake("one empty slot past the end is attended to", _zero_slots),
    Mistake("keys are read where values belong", lambda q, k, v: attention(q, k, k), True),
    Mistake("values are read where keys belong", lambda q, k, v: attention(q, v, v), True),
    Mistake("the last two tokens are exchanged in V", lambda q, k, v: attention(q, k, _swapped(v)), True),
    Mistake(
        "the slot before the newest was overwritten",
        lambda q, k, v: attention(q, np.delete(k, -2, axis=2), np.delete(v, -2, axis=2)),
    ),
    Mistake(
        "the heads of the answer stand in reverse order", lambda q, k, v: attention(q, k, v)[:, ::-1], True
    ),
    Mistake(
        "every head of the answer is that of the next head",
        lambda q, k, v: np.roll(attention(q, k, v), -1, axis=1),
        True,
    ),
    Mistake(
        "every head of the answer is that of the head before it",
        lambda q, k, v: np.roll(attention(q, k, v), 1, axis=1),
        True,
    ),
    Mistake(
        "every head reads the keys of the next head",
        lambda q, k, v: attention(q, np.roll(k, -1, axis=1), v),
        True,
    ),
    Mistake(
        "every head reads the values of the next head",
        lambda q, k, v: attention(q, k, np.roll(v, -1, axis=1)),
        True,
    ),
    Mistake("the answer is zero", lambda q, k, v: np.zeros_like(q, dtype=np.float64)),
)

#: Words of the mistakes that neither a misread axis order nor a misplaced advance can cause.
ORDERLY = frozenset(mistake.words for mistake in MISTAKES if mistake.orderly)


def diagnosis(out: Array, q: Array, k: Array, v: Array) -> str:
    """Which usual mistake a wrong step equals; empty when none.

    Args:
        out: The answer, (1, H, 1, D).
        q: (1, H, 1, D).
        k: (1, G, S, D), all that is stored.
        v: As k.
    """
    for mistake in MISTAKES:
        if k.shape[2] < 3:
            break
        with np.errstate(all="ignore"):
            wrong = mistake.made(q, k, v)
        if np.allclose(out, wrong, rtol=1e-4, atol=1e-5):
            return mistake.words
    return _empty_slots(out, q, k, v)


def nearly(out: Array, q: Array, k: Array, v: Array, within: float) -> str:
    """Which orderly mistake over codes of keys and values a wrong step may be; empty when none.

    Args:
        out: The answer, (B, H, 1, D).
        q: (B, H, 1, D).
        k: (B, G, S, D), all that went in.
        v: As k.
        within: How far off, relatively, codes leave an answer.
    """
    errors = {each.words: _apart(out, each.made(q, k, v)) for each in MISTAKES if each.orderly}
    words = min(errors, key=lambda each: errors[each])
    return words if errors[words] <= within and errors[words] < _apart(out, attention(q, k, v)) else ""


def _apart(one: Array, other: Array) -> float:
    return float(np.linalg.norm(one - other) / np.linalg.norm(other))


def _empty_slots(out: Array, q: Array, k: Array, v: Array) -> str:
    """Zero scores and values of n unused slots shrink each head by Z / (Z + n), Z = Σ exp(scores)."""
    truth = attention(q, k, v)
    with np.errstate(all="ignore"):
        group = q.shape[1] // k.shape[1]
        keys = np.repeat(np.asarray(k, np.float64), group, axis=1)
        total = np.exp(np.matmul(q, np.swapaxes(keys, -1, -2)) / np.sqrt(q.shape[-1])).sum(-1, keepdims=True)
        shrunk = (out * truth).sum(-1, keepdims=True) / (truth * truth).sum(-1, keepdims=True)
        count = np.median(total / shrunk - total)
        if 0.5 < count < 1 << 16:
            wrong = truth * total / (total + np.rint(count))
            if np.allclose(out, wrong, 1e-3, 1e-5):
                return "the empty slots of the buffer are attended to"
        if count > _FAINT and np.allclose(out, truth * total / (total + count), 1e-4, 1e-6):
            return (
                "slots that hold zeros are attended to, with less weight: what stands for −inf is too large"
            )
    return ""
