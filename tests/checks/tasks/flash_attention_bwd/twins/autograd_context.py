# style: forward and backward of an autograd function, state on the context, None for what has no gradient
import numpy as np
class FlashAttentionFunction:
    @staticmethod
    def forward(ctx, q, k, v, block_size=32, causal=True):
        n, d = q.shape[-2:]
        sc = d ** -0.5
        o = np.zeros_like(q); lse = np.zeros(q.shape[:-1])
        for i in range(0, n, block_size):
            qi = q[..., i:i+block_size, :]
            m = np.full(qi.shape[:-1], -np.inf); l = np.zeros(qi.shape[:-1]); acc = np.zeros_like(qi)
            for j in range(0, n, block_size):
                if causal and j > i + block_size - 1: break
                s = qi @ np.swapaxes(k[..., j:j+block_size, :], -1, -2) * sc
                if causal:
                    s = np.where(np.arange(j, j+s.shape[-1])[None] > np.arange(i, i+s.shape[-2])[:, None], -np.inf, s)
                mn = np.maximum(m, s.max(-1)); ref = np.where(np.isneginf(mn), 0.0, mn)
                p = np.exp(s - ref[..., None]); a = np.exp(m - ref)
                l = l*a + p.sum(-1); acc = acc*a[..., None] + p @ v[..., j:j+block_size, :]; m = mn
            o[..., i:i+block_size, :] = acc / np.where(l > 0, l, 1.0)[..., None]
            lse[..., i:i+block_size] = np.where(l > 0, m + np.log(np.where(l > 0, l, 1.0)), -np.inf)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.block_size = block_size; ctx.causal = causal
        return o
    @staticmethod
    def backward(ctx, do):
        q, k, v, o, lse = ctx.saved_tensors
        n, d = q.shape[-2:]; sc = d ** -0.5; bs = ctx.block_size
        dq = np.zeros_like(q); dk = np.zeros_like(k); dv = np.zeros_like(v)
        delta = (do*o).sum(-1)
        lse = np.where(np.isneginf(lse), 0.0, lse)
        for j in range(0, n, bs):
            kj = k[..., j:j+bs, :]; vj = v[..., j:j+bs, :]
            for i in range(0, n, bs):
                qi = q[..., i:i+bs, :]; gi = do[..., i:i+bs, :]
                if ctx.causal and j > i + qi.shape[-2] - 1: continue
                s = qi @ np.swapaxes(kj, -1, -2) * sc
                if ctx.causal:
                    s = np.where(np.arange(j, j+s.shape[-1])[None] > np.arange(i, i+s.shape[-2])[:, None], -np.inf, s)
                p = np.exp(s - lse[..., i:i+bs, None])
                ds = p * (gi @ np.swapaxes(vj, -1, -2) - delta[..., i:i+bs, None]) * sc
                dv[..., j:j+bs, :] += np.swapaxes(p, -1, -2) @ gi
                dk[..., j:j+bs, :] += np.swapaxes(ds, -1, -2) @ qi
                dq[..., i:i+bs, :] += ds @ kj
        return dq, dk, dv, None, None
