# bug: caches of one shape share their buffers
# caught by: incremental_equals_full
import numpy as np


_BUFFERS = {}


def init_cache(batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
    shape = (batch_size, num_heads, max_seq_len, head_dim)
    key = (shape, np.dtype(dtype).str)
    if key not in _BUFFERS:
        _BUFFERS[key] = (np.zeros(shape, dtype), np.zeros(shape, dtype))
    return {"k": _BUFFERS[key][0], "v": _BUFFERS[key][1], "pos": 0}


def update_cache(cache, k_new, v_new):
    t = k_new.shape[2]
    p = cache["pos"]
    if p + t > cache["k"].shape[2]:
        raise ValueError(f"KV cache overflow: {p} + {t} > {cache['k'].shape[2]}")
    cache["k"][:, :, p : p + t] = k_new
    cache["v"][:, :, p : p + t] = v_new
    cache["pos"] = p + t
    return cache


def get_kv(cache):
    p = cache["pos"]
    return cache["k"][:, :, :p], cache["v"][:, :, :p]


def cached_attention(q, cache):
    """q (B, H, T, D): the last T positions of the cache."""
    k, v = get_kv(cache)
    scale = q.shape[-1] ** -0.5
    s = np.einsum("bhtd,bhsd->bhts", q, k) * scale
    T, S = s.shape[-2:]
    allowed = np.tril(np.ones((T, S), dtype=bool), S - T)
    s = np.where(allowed, s, -1e30)
    s -= s.max(-1, keepdims=True)
    p = np.exp(s)
    p /= p.sum(-1, keepdims=True)
    return np.einsum("bhts,bhsd->bhtd", p, v)
