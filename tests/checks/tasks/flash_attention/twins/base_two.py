"""exp2 with log2(e) folded into the scale; returns a dict."""
import math

import numpy as np


def flash_attention(q, k, v, *, block_q=64, block_k=64, causal=False):
    b, h, n, d = q.shape
    qs = q * (math.log2(math.e) / math.sqrt(d))
    result = np.zeros(q.shape, q.dtype)
    for r0 in range(0, n, block_q):
        r1 = min(n, r0 + block_q)
        mx = np.full((b, h, r1 - r0), -np.inf, q.dtype)
        den = np.zeros_like(mx)
        num = np.zeros((b, h, r1 - r0, d), q.dtype)
        c0 = 0
        while c0 < (r1 if causal else n):
            c1 = min(n, c0 + block_k)
            s = np.matmul(qs[:, :, r0:r1], np.moveaxis(k[:, :, c0:c1], -1, -2))
            if causal and c1 > r0 + 1:
                s += np.where(np.arange(c0, c1) > np.arange(r0, r1)[:, None], -np.inf, 0.0).astype(s.dtype)
            new = np.maximum(mx, np.amax(s, axis=-1))
            ref = np.where(new == -np.inf, np.zeros_like(new), new)
            w = np.exp2(s - ref[..., None])
            f = np.exp2(mx - ref)
            den *= f
            den += np.sum(w, axis=-1)
            num *= f[..., None]
            num += np.matmul(w, v[:, :, c0:c1])
            mx = new
            c0 = c1
        result[:, :, r0:r1] = np.divide(num, den[..., None], out=np.zeros_like(num), where=den[..., None] > 0)
    return {"output": result, "config": (block_q, block_k)}
