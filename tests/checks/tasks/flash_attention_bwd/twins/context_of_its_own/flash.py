# style: a Function with a context class of its own, with a place for settings
# warns: cache_minimality (the tile and the mask among them)
"""FlashAttention as a Function: tiled forward, recomputing backward.

    O, ctx = FlashAttention.apply(Q, K, V, 64, True)
    dQ, dK, dV, _, _ = FlashAttention.backward(ctx, dO)

Outputs and gradients come in the dtype of the input they belong to; the arithmetic
inside a tile is float64.  The backward walks key tiles in the outer loop, each
of them once: dK and dV stay local to a key tile, dQ is accumulated.
"""
import numpy as np

from function import Function


def _f64(x):
    return np.asarray(x).astype(np.float64)


def _blocks(start, n, size):
    return ((a, min(a + size, n)) for a in range(start, n, size))


def _logits(q, k, q0, k0, causal):
    """Scaled logits of a block pair; q is (B, H, bq, D) already scaled."""
    s = np.einsum("bhqd,bhkd->bhqk", q, k, optimize=True)
    if causal and k0 + k.shape[2] > q0 + 1:
        future = k0 + np.arange(k.shape[2]) > q0 + np.arange(q.shape[2])[:, None]
        s[..., future] = -np.inf
    return s


class FlashAttention(Function):
    """softmax(Q K^T / sqrt(D)) V for (B, H, N, D) arrays."""

    @staticmethod
    def forward(ctx, Q, K, V, tile_size=64, causal=True):
        if Q.ndim != 4 or Q.shape != K.shape or Q.shape != V.shape:
            raise ValueError("Q, K, V must have one shape (B, H, N, D)")
        if tile_size < 1:
            raise ValueError("tile_size < 1")
        B, H, N, D = Q.shape
        O = np.empty_like(Q)
        L = np.empty((B, H, N))
        for q0, q1 in _blocks(0, N, tile_size):
            q = _f64(Q[:, :, q0:q1]) * D ** -0.5
            num = np.zeros(q.shape)
            den = np.zeros(q.shape[:3] + (1,))
            ceiling = np.full_like(den, -np.inf)
            for k0, k1 in _blocks(0, q1 if causal else N, tile_size):
                s = _logits(q, _f64(K[:, :, k0:k1]), q0, k0, causal)
                old, ceiling = ceiling, np.maximum(ceiling, s.max(-1, keepdims=True))
                finite = np.where(np.isinf(ceiling), 0.0, ceiling)
                keep = np.exp(old - finite)
                e = np.exp(s - finite)
                den = den * keep + e.sum(-1, keepdims=True)
                num = num * keep + e @ _f64(V[:, :, k0:k1])
            some = den > 0
            den = np.where(some, den, 1.0)
            O[:, :, q0:q1] = num / den
            L[:, :, q0:q1] = np.where(some, ceiling + np.log(den), -np.inf)[..., 0]
        ctx.save_for_backward(Q, K, V, O, L)
        ctx.meta.update(tile_size=tile_size, causal=causal)
        return O

    @staticmethod
    def backward(ctx, grad_output, tile_size=None, causal=None):
        """Returns (dQ, dK, dV, None, None); tile_size and causal default to
        those of the forward."""
        Q, K, V, O, L = ctx.saved_tensors
        tile = ctx.meta["tile_size"] if tile_size is None else tile_size
        causal = ctx.meta["causal"] if causal is None else causal
        N, D = Q.shape[2:]
        scale = D ** -0.5
        delta = np.einsum("bhnd,bhnd->bhn", grad_output, O, dtype=np.float64)
        dQ = np.zeros(Q.shape)
        dK, dV = np.empty_like(K), np.empty_like(V)
        for k0, k1 in _blocks(0, N, tile):
            k, v = _f64(K[:, :, k0:k1]), _f64(V[:, :, k0:k1])
            dk, dv = np.zeros(k.shape), np.zeros(v.shape)
            # with a causal mask no query before k0 looks at these keys
            for q0, q1 in _blocks(k0 if causal else 0, N, tile):
                q, g = _f64(Q[:, :, q0:q1]) * scale, _f64(grad_output[:, :, q0:q1])
                lse = L[:, :, q0:q1, None]
                p = np.exp(_logits(q, k, q0, k0, causal) - np.where(np.isinf(lse), 0.0, lse))
                ds = p * (g @ v.swapaxes(2, 3) - delta[:, :, q0:q1, None])
                dv += p.swapaxes(2, 3) @ g
                dk += ds.swapaxes(2, 3) @ q
                dQ[:, :, q0:q1] += ds @ k
            dK[:, :, k0:k1], dV[:, :, k0:k1] = dk, dv
        dQ *= scale
        return dQ.astype(Q.dtype, copy=False), dK, dV, None, None
