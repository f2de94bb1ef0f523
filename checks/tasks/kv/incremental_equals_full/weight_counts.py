"""Tokens that count several times among weights that are right but for that, and what counts for none."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.misplaced import span
from judge_tui.checks.tasks.kv.words.reference import causal_rows

__all__ = ["count_words"]

Array = npt.NDArray[Any]
#: How far a count may be from a whole one, and the largest that is told.
_WHOLE, _MOST = 2e-2, 16
#: A right weight below which nothing is read off, and how far weights may be from those of their counts.
_FAINT, _SAME = 1e-5, 1e-3


def count_words(made: Array, scores: Array) -> str:
    """Which tokens count more than once, and which for none, as a clause; empty where that is not all.

    A token whose key and value are read again in the place of another's has twice its weight.

    Args:
        made: (B, H, T, S), what rows of answers give to the values of S stored tokens; the last row is the
            newest token's.
        scores: Scaled scores of the same shape, nothing hidden.
    """
    seen = np.broadcast_to(causal_rows(*scores.shape[2:]), scores.shape)
    hidden = np.where(seen, scores, -np.inf)
    weights = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    told = seen & (weights > _FAINT * weights.sum(axis=-1, keepdims=True))
    share = np.where(told, made / np.where(told, weights, 1.0), np.nan)
    some = told & (share > 0.5 * np.nanmax(share, axis=-1, keepdims=True) / _MOST)
    if not some.any(axis=-1).all():
        return ""
    once = np.where(some, share, np.inf).min(axis=-1, keepdims=True)
    counts = np.where(told, share / once, 0.0)
    times = np.round(counts)
    if np.abs(counts - times).max() > _WHOLE or times.max() > _MOST or times.min() < 0:
        return ""
    given = np.where(told, times, 1.0) * weights
    if np.abs(made - given / given.sum(axis=-1, keepdims=True)).max() > _SAME:
        return ""
    return _told(times[:, :, -1], told[:, :, -1])


def _told(times: Array, told: Array) -> str:
    """The counts of the newest row (B, H, S), where they are alike in every head."""
    sequences = [b for b in range(len(times)) if (times[b][told[b]] > 1).any()]
    if not sequences:
        return ""
    first = sequences[0]
    most = np.where(told[first], times[first], -1).max(axis=0)
    if (told[first] & (times[first] != most)).any():
        return ""
    stored = len(most)
    several = np.flatnonzero(most > 1)
    often = {int(most[at]) for at in several}
    how = (
        "twice"
        if often == {2}
        else f"{min(often)} to {max(often)} times"
        if len(often) > 1
        else f"{often.pop()} times"
    )
    which = f"sequence {first}, " if len(times) > 1 and len(sequences) < len(times) else ""
    said = f"{which}{span('token', several.tolist(), stored)}: key and value count {how}"
    lost = np.flatnonzero(most == 0)
    return f"{said}, those of {span('token', lost.tolist(), stored)} not at all" if len(lost) else said
