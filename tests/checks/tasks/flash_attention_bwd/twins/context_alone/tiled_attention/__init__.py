"""Memory-efficient exact attention with a hand-written backward pass.

    from tiled_attention import attention_forward, attention_backward

    ctx = attention_forward(q, k, v, causal=True, tile_size=64)
    ctx.out                                  # (batch, seq, heads, head_dim)
    grads = attention_backward(ctx, grad_out)
    grads.dq, grads.dk, grads.dv

Tensors are laid out (batch, seq, heads, head_dim), as in the flash-attn package:
that is what the QKV projection produces after a reshape, with no transpose.
"""

from .backward import attention_backward
from .context import AttentionContext, AttentionGrads
from .forward import attention_forward

__all__ = ["AttentionContext", "AttentionGrads", "attention_backward", "attention_forward"]
