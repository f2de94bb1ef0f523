"""Weights that are right elsewhere: another head's, the mean of all, or normalised over something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.misplaced import span

__all__ = ["head_words", "normalised_words", "other_heads"]

Array = npt.NDArray[Any]
#: How near a weight is to another that is the same.
_SAME = 1e-3


def other_heads(out: Array, truth: Array, within: float) -> str:
    """Heads of an answer that are other heads of the right one, as a clause; empty where they are not.

    Args:
        out: The answer, (B, H, T, D).
        truth: The right one.
        within: Largest difference of what is the same, as a share of the largest number.
    """
    heads = out.shape[1]
    if heads < 2 or out.shape != truth.shape or not np.isfinite(out).all():
        return ""
    apart = np.abs(out[:, :, None] - truth[:, None]).max(axis=(0, 3, 4))
    found = apart.argmin(axis=1)
    if not apart[np.arange(heads), found].max() <= within * max(1.0, float(np.abs(truth).max())):
        return ""
    if (found == np.arange(heads)).all():
        return ""
    if (found == np.arange(heads)[::-1]).all():
        return "the heads of the answer stand in reverse order"
    if len(set(found.tolist())) == 1:
        return f"every head of the answer is that of head {found[0]}"
    h = int(np.flatnonzero(found != np.arange(heads))[0])
    return f"head {h} of the answer is that of head {found[h]}"


def head_words(made: Array, right: Array) -> str:
    """Heads that weigh as others should, or as all do in the mean; empty where none does.

    Args:
        made: (B, H, T, S), weights as they are.
        right: As they should be.
    """
    heads = made.shape[1]
    if heads < 2:
        return ""
    for words, all_alike in (("the mean", right.mean(axis=1)), ("the sum", right.sum(axis=1))):
        if _near(made, np.broadcast_to(all_alike[:, None], made.shape)):
            return f"every head weighs by {words} of the weights of all heads"
    found = [next((j for j in range(heads) if _near(made[:, h], right[:, j])), -1) for h in range(heads)]
    wrong = [h for h, j in enumerate(found) if j != h]
    if not wrong or -1 in found:
        return ""
    if len(set(found)) == 1:
        return f"every head weighs as head {found[0]} should"
    return f"{span('head', wrong, heads)}: head {wrong[0]} weighs as head {found[wrong[0]]} should"


def normalised_words(made: Array, scores: Array, seen: Array) -> str:
    """Weights that are exp of the right scores over another sum than that over tokens.

    Args:
        made: (B, H, T, S), weights as they are.
        scores: The right ones, scaled.
        seen: Of the same shape, which tokens a row sees.
    """
    hidden = np.where(seen, scores, -np.inf)
    with np.errstate(all="ignore"):
        sizes = {"the sum over the heads": 1, "the sum over the sequences": 0, "the sum over the rows": 2}
        for words, axis in sizes.items():
            if made.shape[axis] > 1:
                top = np.where(np.isfinite(hidden), hidden, -1e30).max(axis=axis, keepdims=True)
                weights = np.exp(hidden - top)
                if _near(made, np.nan_to_num(weights / weights.sum(axis=axis, keepdims=True))):
                    return f"weights are divided by {words}, not over the tokens"
        plain = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
        count = seen.sum(axis=-1, keepdims=True)
        total = plain.sum(axis=-1, keepdims=True)
        for words, weights in {
            "are not divided by their sum": plain,
            "are exp of the scores, not divided by their sum": np.exp(hidden),
            "are the scores themselves, without a softmax": np.where(seen, scores, 0.0),
            "are all the same": seen / count,
            "are squares of what they should be": (plain / total) ** 2,
            "are normalised by the root of the sum of their squares": plain
            / np.sqrt((plain**2).sum(axis=-1, keepdims=True)),
        }.items():
            if _near(made, weights) and not _near(made, plain / total):
                return f"weights {words}"
    return ""


def _near(made: Array, wanted: Array) -> bool:
    size = max(1.0, float(np.abs(wanted).max()))
    return bool(np.abs(made - wanted).max() <= _SAME * size)
