# style: torch's autograd function, and a log-sum-exp that is float32 whatever comes in
# warns: gradients, gradient_identities, logsumexp (float32 of float64 input)
# only: gradients, gradient_identities, logsumexp
"""Flash attention forward+backward in the style of ``torch.autograd.Function``."""
import math
import numpy as np


class Context:
    def __init__(self):
        self.saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


class FlashAttentionFunction:
    @staticmethod
    def forward(ctx, Q, K, V, tile_size=64, causal=True):
        B, H, N, D = Q.shape
        scale = 1.0 / math.sqrt(D)
        O = np.zeros_like(V)
        L = np.full((B, H, N), -np.inf, dtype=np.float32)
        for i in range(0, N, tile_size):
            hi = min(i + tile_size, N)
            m = np.full((B, H, hi - i), -np.inf, dtype=Q.dtype)
            l = np.zeros_like(m)
            acc = np.zeros_like(O[:, :, i:hi])
            for j in range(0, hi if causal else N, tile_size):
                hj = min(j + tile_size, N)
                S = scale * np.matmul(Q[:, :, i:hi], K[:, :, j:hj].transpose(0, 1, 3, 2))
                if causal and hj > i + 1:
                    S = np.where(np.arange(i, hi)[:, None] >= np.arange(j, hj)[None, :], S, -np.inf)
                m_new = np.maximum(m, S.max(axis=-1))
                shift = np.where(m_new == -np.inf, 0.0, m_new).astype(Q.dtype)
                P = np.exp(S - shift[..., None])
                r = np.exp(m - shift)
                l = r * l + P.sum(-1)
                acc = r[..., None] * acc + P @ V[:, :, j:hj]
                m = m_new
            ok = l > 0
            O[:, :, i:hi] = acc / np.where(ok, l, 1.0)[..., None]
            L[:, :, i:hi] = np.where(ok, m + np.log(np.where(ok, l, 1.0)), -np.inf)
        ctx.save_for_backward(Q, K, V, O, L)
        ctx.tile_size, ctx.causal = tile_size, causal
        return O

    @staticmethod
    def backward(ctx, dO):
        Q, K, V, O, L = ctx.saved_tensors
        T, causal = ctx.tile_size, ctx.causal
        B, H, N, D = Q.shape
        scale = 1.0 / math.sqrt(D)
        delta = (dO * O).sum(-1)
        dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
        Lsafe = np.where(np.isneginf(L), np.inf, L)   # exp(S - inf) = 0 for rows that see nothing
        for j in range(0, N, T):
            hj = min(j + T, N)
            first = (j // T) * T if causal else 0
            for i in range(first, N, T):
                hi = min(i + T, N)
                S = scale * (Q[:, :, i:hi] @ K[:, :, j:hj].swapaxes(-1, -2))
                if causal and hj > i + 1:
                    S = np.where(np.arange(i, hi)[:, None] >= np.arange(j, hj)[None, :], S, -np.inf)
                P = np.exp(S - Lsafe[:, :, i:hi, None])
                dV[:, :, j:hj] += P.swapaxes(-1, -2) @ dO[:, :, i:hi]
                dP = dO[:, :, i:hi] @ V[:, :, j:hj].swapaxes(-1, -2)
                dS = P * (dP - delta[:, :, i:hi, None]) * scale
                dQ[:, :, i:hi] += dS @ K[:, :, j:hj]
                dK[:, :, j:hj] += dS.swapaxes(-1, -2) @ Q[:, :, i:hi]
        return dQ, dK, dV, None, None


def flash_attention(Q, K, V, tile_size=64, causal=True):
    ctx = Context()
    return FlashAttentionFunction.forward(ctx, Q, K, V, tile_size, causal), ctx


