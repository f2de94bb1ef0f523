# bug: the first query tile under the diagonal is counted in key tiles, right only where both are of one size
# caught by: gradients
# passes: accuracy, gradient_identities
import numpy as np


def rows_forward(q, k, v, br, bc, causal):
    n = q.shape[-2]
    O, L = np.zeros_like(q), np.zeros(q.shape[:-1], q.dtype)
    scale = np.asarray(q.shape[-1] ** -0.5, q.dtype)
    for i in range(0, n, br):
        qi = q[..., i:i + br, :] * scale
        r = np.arange(i, min(i + br, n))
        m = np.full(qi.shape[:-1], -np.inf, q.dtype)
        l, acc = np.zeros_like(m), np.zeros_like(qi)
        for j in range(0, r[-1] + 1 if causal else n, bc):
            c = np.arange(j, min(j + bc, n))
            s = qi @ np.swapaxes(k[..., c, :], -1, -2)
            if causal:
                s = np.where(r[:, None] >= c, s, -np.inf)
            top = np.maximum(m, s.max(-1))
            base = np.where(top > -np.inf, top, 0)
            p, fade = np.exp(s - base[..., None]), np.exp(m - base)
            l, acc, m = l * fade + p.sum(-1), acc * fade[..., None] + p @ v[..., c, :], top
        O[..., r, :] = acc / np.where(l > 0, l, 1)[..., None]
        with np.errstate(divide="ignore"):
            L[..., r] = m + np.log(l)
    return O, L


class Attention:
    """forward(q, k, v) keeps what backward(do) needs on ctx."""

    def __init__(self, block_q=32, block_k=16, causal=True):
        self.block_q, self.block_k, self.causal = block_q, block_k, causal

    def forward(self, q, k, v):
        o, lse = rows_forward(q, k, v, self.block_q, self.block_k, self.causal)
        self.ctx = q, k, v, o, lse
        return o

    def backward(self, do):
        q, k, v, o, lse = self.ctx
        n, scale = q.shape[-2], np.asarray(q.shape[-1] ** -0.5, q.dtype)
        delta = np.sum(do * o, -1)
        safe = np.where(lse > -np.inf, lse, np.inf)
        dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
        for j in range(0, n, self.block_k):
            c = slice(j, min(j + self.block_k, n))
            lo = j // self.block_k * self.block_q if self.causal else 0
            for i in range(lo, n, self.block_q):
                r = slice(i, min(i + self.block_q, n))
                s = q[..., r, :] @ np.swapaxes(k[..., c, :], -1, -2) * scale
                p = np.exp(s - safe[..., r, None])
                if self.causal:
                    p = p * (np.arange(r.start, r.stop)[:, None] >= np.arange(c.start, c.stop))
                dv[..., c, :] += np.swapaxes(p, -1, -2) @ do[..., r, :]
                ds = p * (do[..., r, :] @ np.swapaxes(v[..., c, :], -1, -2) - delta[..., r, None]) * scale
                dq[..., r, :] += ds @ k[..., c, :]
                dk[..., c, :] += np.swapaxes(ds, -1, -2) @ q[..., r, :]
        return dq, dk, dv
