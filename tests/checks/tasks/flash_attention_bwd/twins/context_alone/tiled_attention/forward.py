# right: the forward gives a context that holds the output; tokens before heads
# warns: accuracy, cache_minimality
"""Forward pass: online softmax over key tiles."""

from typing import Optional

import numpy as np

from .context import AttentionContext
from .tiles import key_limit, spans, tile_scores


def attention_forward(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    causal: bool = True,
    tile_size: int = 64,
    key_lengths: Optional[np.ndarray] = None,
) -> AttentionContext:
    """Exact softmax(q k^T / sqrt(D)) v without the (N, N) matrix.

    Args:
        q, k, v: (B, N, H, D), one shape for all three.
        causal: hide keys behind the query position; tiles that lie completely
            above the diagonal are skipped.
        tile_size: edge of the square tiles, any positive number.
        key_lengths: optional (B,) count of real keys per sequence; the others are
            padding.  A sequence of length 0 gives out = 0 and lse = -inf.

    Returns:
        AttentionContext; the result is in its field ``out``.
    """
    q, k, v = (np.asarray(a) for a in (q, k, v))
    if q.ndim != 4 or not q.shape == k.shape == v.shape:
        raise ValueError("q, k and v must have one common shape (B, N, H, D)")
    if tile_size < 1:
        raise ValueError("tile_size must be positive")
    b, n, h, d = q.shape
    if key_lengths is not None:
        key_lengths = np.asarray(key_lengths)
        if key_lengths.shape != (b,) or (key_lengths < 0).any() or (key_lengths > n).any():
            raise ValueError("key_lengths must be (B,) with values in [0, N]")

    dtype = np.result_type(q, k, v, np.float32)
    scale = float(d) ** -0.5
    out = np.zeros((b, n, h, d), dtype)
    lse = np.full((b, h, n), -np.inf, dtype)

    for rows in spans(n, tile_size):
        q_t = q[:, rows].astype(dtype, copy=False)
        nr = rows.stop - rows.start
        top = np.full((b, h, nr), -np.inf, dtype)        # running maximum
        total = np.zeros((b, h, nr), dtype)              # running sum of exp
        accum = np.zeros((b, h, nr, d), dtype)           # unnormalised output

        for cols in spans(key_limit(rows, n, causal, key_lengths), tile_size):
            k_t = k[:, cols].astype(dtype, copy=False)
            v_t = v[:, cols].astype(dtype, copy=False)
            s = tile_scores(q_t, k_t, rows, cols, scale, causal, key_lengths)

            new_top = np.maximum(top, s.max(axis=-1))
            anchor = np.where(new_top == -np.inf, dtype.type(0), new_top)
            p = np.exp(s - anchor[..., None])
            decay = np.exp(top - anchor)
            total = total * decay + p.sum(axis=-1)
            accum *= decay[..., None]
            accum += np.einsum("bhij,bjhd->bhid", p, v_t, optimize=True)
            top = new_top

        alive = total > 0
        norm = np.where(alive, total, dtype.type(1))
        out[:, rows] = np.swapaxes(accum / norm[..., None], 1, 2)
        lse[:, :, rows] = np.where(alive, top + np.log(norm), dtype.type(-np.inf))

    return AttentionContext(q, k, v, out, lse, bool(causal), int(tile_size), key_lengths)
