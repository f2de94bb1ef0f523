"""Random queries, keys and values, token by token."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["cut", "drawn"]

Array = npt.NDArray[np.float64]


def drawn(
    rng: np.random.Generator, sizes: Sizes, tokens: int, heads: int | None = None
) -> tuple[Array, Array, Array]:
    """Random q, k, v (B, H, tokens, D) in the dtype of ``sizes``."""
    shape = (sizes.batch, heads or sizes.heads, tokens, sizes.head_dim)
    narrow = (sizes.batch, sizes.heads, tokens, sizes.head_dim)
    q, k, v = (rng.standard_normal(s).astype(sizes.dtype) for s in (shape, narrow, narrow))
    return q, k, v


def cut(stream: tuple[Array, Array, Array], start: int, end: int) -> tuple[Array, Array, Array]:
    """Tokens ``start`` to ``end`` of q, k and v."""
    q, k, v = (x[:, :, start:end] for x in stream)
    return q, k, v
