"""Batches padded in front: all prompts end together, and a mask tells which places of a cache are real."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["LEFT", "after", "aligned", "marked"]

Array = npt.NDArray[Any]
#: What a mask of all places is called when it is handed over: of numbers, or of truth values.
LEFT = ("left_numbers", "left_mask")


def aligned(prompt: Array, real: Array) -> Array:
    """The prompts with their padding in front.

    Args:
        prompt: (B, T) or (B, T, E), padded behind.
        real: (B,) real tokens of each.
    """
    tokens = prompt.shape[1]
    rows = [np.roll(row, tokens - int(n), axis=0) for row, n in zip(prompt, real, strict=True)]
    return np.stack(rows)


def after(held: Array, real: Array, tokens: int) -> Array:
    """Which places of a cache are real after a call.

    Args:
        held: (B, S) bool, before it.
        real: (B,) real tokens of the call.
        tokens: How many each sequence got, with padding in front.

    Returns:
        (B, S + tokens) bool; another batch than before begins anew.
    """
    new = np.arange(tokens) >= tokens - np.asarray(real)[:, None]
    return np.concatenate([held, new], axis=1) if len(held) == len(new) else new


def marked(seen: Array) -> dict[str, Any]:
    """The mask by the names of :data:`LEFT`; ``None`` where all is real, which needs none."""
    if bool(seen.all()):
        return dict.fromkeys(LEFT)
    return {"left_numbers": seen.astype(np.int64), "left_mask": seen}
