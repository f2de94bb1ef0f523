# style: one head a thread, of a pool that outlives the call
"""Flash attention, heads in parallel: NumPy releases the GIL inside matmul."""
import os
from concurrent.futures import ThreadPoolExecutor
import numpy as np

_POOL = ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1), thread_name_prefix="head")


def _one_head(q, k, v, tile, causal):
    n, d = q.shape
    out = np.zeros_like(q)
    for i in range(0, n, tile):
        qi = q[i:i + tile] / np.sqrt(d)
        m = np.full(len(qi), -np.inf, q.dtype)
        den = np.zeros(len(qi), q.dtype)
        num = np.zeros_like(qi)
        for j in range(0, i + len(qi) if causal else len(k), tile):
            s = qi @ k[j:j + tile].T
            if causal and j + s.shape[1] > i + 1:
                s[np.arange(i, i + len(qi))[:, None] < np.arange(j, j + s.shape[1])] = -np.inf
            new = np.maximum(m, s.max(1))
            base = np.where(np.isfinite(new), new, 0)
            p = np.exp(s - base[:, None])
            c = np.exp(m - base)
            den = den * c + p.sum(1)
            num = num * c[:, None] + p @ v[j:j + tile]
            m = new
        live = den > 0
        out[i:i + tile][live] = num[live] / den[live, None]
    return out


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    jobs = [_POOL.submit(_one_head, Q[b, h], K[b, h], V[b, h], tile_size, causal) for b in range(B) for h in range(H)]
    return np.stack([j.result() for j in jobs]).reshape(Q.shape).astype(Q.dtype)
