"""Backward pass: query tiles outside, key tiles inside.

For a query tile the gradient dq is complete when the inner loop ends, while dk
and dv are accumulated in place.  The probabilities of a tile come from the saved
log-sum-exp, p = exp(s - lse), hence need neither the running maximum nor the sum.
"""

from typing import Optional

import numpy as np

from .context import AttentionContext, AttentionGrads
from .tiles import finite_part, key_limit, spans, tile_scores


def attention_backward(
    ctx: AttentionContext, grad_out: np.ndarray, *, tile_size: Optional[int] = None
) -> AttentionGrads:
    """Gradients with respect to q, k and v.

    Args:
        ctx: result of :func:`attention_forward`.
        grad_out: (B, N, H, D), gradient of the loss with respect to ``ctx.out``.
        tile_size: overrides the tile size of the forward pass; the result does
            not depend on it up to rounding.

    Returns:
        AttentionGrads(dq, dk, dv), each (B, N, H, D).
    """
    grad_out = np.asarray(grad_out)
    if grad_out.shape != ctx.out.shape:
        raise ValueError(f"grad_out is {grad_out.shape}, out is {ctx.out.shape}")
    size = ctx.tile_size if tile_size is None else int(tile_size)
    if size < 1:
        raise ValueError("tile_size must be positive")

    n = ctx.q.shape[1]
    dtype = np.result_type(ctx.out, grad_out)
    scale = dtype.type(ctx.scale)
    dq, dk, dv = (np.zeros(ctx.q.shape, dtype) for _ in range(3))

    for rows in spans(n, size):
        q_t = ctx.q[:, rows].astype(dtype, copy=False)
        q_lin = finite_part(q_t)
        go = grad_out[:, rows].astype(dtype, copy=False)
        # softmax Jacobian: sum_j p_ij dp_ij over ALL keys equals <go_i, out_i>
        row_dot = np.einsum("bihd,bihd->bhi", go, ctx.out[:, rows])[..., None]
        lse = ctx.lse[:, :, rows, None]
        dead = lse == -np.inf                              # queries without a key
        lse = np.where(dead, dtype.type(0), lse)
        any_dead = bool(dead.any())

        for cols in spans(key_limit(rows, n, ctx.causal, ctx.key_lengths), size):
            k_t = ctx.k[:, cols].astype(dtype, copy=False)
            v_t = ctx.v[:, cols].astype(dtype, copy=False)
            s = tile_scores(q_t, k_t, rows, cols, ctx.scale, ctx.causal, ctx.key_lengths)
            p = np.exp(s - lse)
            if any_dead:
                p = np.where(dead, dtype.type(0), p)

            dv[:, cols] += np.einsum("bhij,bihd->bjhd", p, go, optimize=True)
            dp = np.einsum("bihd,bjhd->bhij", go, v_t, optimize=True)
            ds = p * (dp - row_dot) * scale
            dq[:, rows] += np.einsum("bhij,bjhd->bihd", ds, finite_part(k_t), optimize=True)
            dk[:, cols] += np.einsum("bhij,bihd->bjhd", ds, q_lin, optimize=True)

    return AttentionGrads(dq, dk, dv)
