"""Random queries, keys and values, token by token."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["LOW", "cut", "drawn", "lowered"]

Array = npt.NDArray[np.float64]
#: A score below every finite number that usually stands for −inf, but for the least of a type.
LOW = -2e10


def drawn(
    rng: np.random.Generator, sizes: Sizes, tokens: int, heads: int | None = None
) -> tuple[Array, Array, Array]:
    """Random q, k, v (B, H, tokens, D) in the dtype of ``sizes``."""
    shape = (sizes.batch, heads or sizes.heads, tokens, sizes.head_dim)
    narrow = (sizes.batch, sizes.heads, tokens, sizes.head_dim)
    q, k, v = (rng.standard_normal(s).astype(sizes.dtype) for s in (shape, narrow, narrow))
    return q, k, v


def lowered(stream: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """The same values under queries and keys whose scores are :data:`LOW`, each of them, and no rounding."""
    q, k, v = stream
    size = np.sqrt(-LOW) * q.shape[-1] ** 0.25
    queries, keys = np.zeros_like(q), np.zeros_like(k)
    queries[..., 0], keys[..., 0] = -size, size
    return queries, keys, v


def cut(stream: tuple[Array, Array, Array], start: int, end: int) -> tuple[Array, Array, Array]:
    """Tokens ``start`` to ``end`` of q, k and v."""
    q, k, v = (x[:, :, start:end] for x in stream)
    return q, k, v
