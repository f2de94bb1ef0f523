"""Static methods of a class, the context first."""
import numpy as np


class FlashAttentionFunction:
    @staticmethod
    def forward(ctx, q, k, v, causal=True, block_m=32, block_n=16):
        n, d = q.shape[-2:]
        out, lse = np.zeros(q.shape), np.full(q.shape[:-1], -np.inf)
        for i in range(0, n, block_m):
            r = slice(i, min(i + block_m, n))
            m = np.full(q[..., r, 0].shape, -np.inf)
            l, acc = np.zeros(m.shape), np.zeros(q[..., r, :].shape)
            for j in range(0, r.stop if causal else n, block_n):
                s = q[..., r, :] @ k[..., j : j + block_n, :].swapaxes(-1, -2) / d**0.5
                if causal:
                    hidden = np.arange(n)[j : j + block_n] > np.arange(n)[r, None]
                    s = np.where(hidden, -np.inf, s)
                top = np.maximum(m, s.max(-1))
                base = np.where(np.isfinite(top), top, 0)
                p = np.exp(s - base[..., None])
                scale = np.exp(m - base)
                l = l * scale + p.sum(-1)
                acc = acc * scale[..., None] + p @ v[..., j : j + block_n, :]
                m = top
            out[..., r, :] = acc / np.where(l > 0, l, 1)[..., None]
            with np.errstate(divide="ignore"):
                lse[..., r] = np.where(l > 0, m + np.log(np.where(l > 0, l, 1)), -np.inf)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.causal = causal
        return out
