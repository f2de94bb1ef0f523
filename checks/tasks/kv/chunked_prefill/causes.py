"""Usual mistakes of a prompt in chunks, as what its rows see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.reference import attention, causal_rows

__all__ = ["cause", "even", "own_chunk"]

Array = npt.NDArray[Any]


def even(tokens: int, size: int) -> list[int]:
    """How many tokens each chunk has where all but the last have ``size``."""
    return [min(size, tokens - start) for start in range(0, tokens, size)]


def own_chunk(sizes: Sequence[int]) -> Array:
    """(S, S) bool: what a row sees that sees its own chunk alone, up to itself."""
    row, key, begin, _end = _places(sizes)
    return (key >= begin) & (key <= row)


def cause(out: Array, q: Array, k: Array, v: Array, sizes: Sequence[int], given: slice = slice(None)) -> str:
    """Which usual mistake the rows equal; empty where it is none of them.

    Args:
        out: (B, H, T, D), the rows that were given.
        q: (B, H, S, D), all that was fed.
        k: (B, G, S, D).
        v: As k.
        sizes: Tokens of each chunk.
        given: Which of the rows were given.
    """
    row, key, begin, end = _places(sizes)
    own, before = own_chunk(sizes), np.where(begin > 0, begin[np.maximum(begin - 1, 0), 0], 0)
    masks: dict[str, Array] = {
        "every row sees its whole chunk, later tokens included": key < end,
        "no row is masked: each sees the whole prompt": np.ones_like(own),
        "every row sees its own chunk alone": own,
        "every row sees its whole chunk and nothing before": (key >= begin) & (key < end),
        "the mask counts from the chunk's start, as if nothing stood before": key <= row - begin,
        "a row does not see itself": (key < row) | (row == 0),
        "a chunk's own tokens are not seen": (key < begin) | (begin == 0),
        "the chunk before is left out": own | (key < before),
    }
    causal = causal_rows(len(own), len(own))
    with np.errstate(all="ignore"):
        tried = {words: attention(q, k, v, visible=mask) for words, mask in masks.items()}
        tried["the scores are not scaled by 1/√D"] = attention(q, k, v, visible=causal, scale=1.0)
        tried["keys take the place of queries"] = attention(k, k, v, visible=causal)
        tried["the answer is zero"] = np.zeros(q.shape)
        for words, wrong in tried.items():
            if np.allclose(out, wrong[:, :, given], rtol=1e-3, atol=1e-4):
                return words
    empty = np.flatnonzero(~out.any(axis=(0, 1, 3))) + (given.start or 0)
    return f"the answer is zero in row {', '.join(map(str, empty))}" if empty.size else ""


def _places(sizes: Sequence[int]) -> tuple[Array, Array, Array, Array]:
    """Rows and keys of (S, S), and where the chunk of each row begins and ends, (S, 1)."""
    ends = np.cumsum(sizes)
    total = int(ends[-1])
    begin, end = (np.repeat(x, sizes)[:, None] for x in (ends - sizes, ends))
    return np.arange(total)[:, None], np.arange(total)[None, :], begin, end
