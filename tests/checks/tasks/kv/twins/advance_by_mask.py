# style: a dict of arrays; what ends a step takes the rows that go on, so that a step is always one token
# skips: chunked_prefill, paged, quantized, memory_model
import numpy as np

def make_kv_cache(batch, layers, kv_heads, max_len, head_dim):
    z = np.zeros((layers, batch, kv_heads, max_len, head_dim), np.float32)
    return dict(k=z, v=z.copy(), lens=np.zeros(batch, np.int32))

def put_kv(cache, layer, k, v):
    T = k.shape[2]
    if (cache["lens"] + T > cache["k"].shape[3]).any():
        raise ValueError("full")
    c = dict(cache, k=cache["k"].copy(), v=cache["v"].copy())
    for b, n in enumerate(cache["lens"]):
        c["k"][layer, b, :, n:n + T] = k[b]
        c["v"][layer, b, :, n:n + T] = v[b]
    return c

def tick(cache, active):
    return dict(cache, lens=cache["lens"] + np.asarray(active).astype(int))

def attend(q, cache, layer):
    """After tick(): last T tokens of every row, all rows the same."""
    B, H, T, D = q.shape
    out = np.empty_like(q)
    for b, n in enumerate(cache["lens"]):
        k, v = cache["k"][layer, b, :, :n], cache["v"][layer, b, :, :n]
        g = H // k.shape[0]
        k, v = np.repeat(k, g, 0), np.repeat(v, g, 0)
        s = q[b] @ k.swapaxes(1, 2) / np.sqrt(D)
        s = np.where(np.arange(n) > np.arange(n - T, n)[:, None], -np.inf, s)
        p = np.exp(s - s.max(-1, keepdims=True))
        out[b] = p / p.sum(-1, keepdims=True) @ v
    return out
