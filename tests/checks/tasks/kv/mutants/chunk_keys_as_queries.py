# bug: a prompt in chunks is asked with its keys, no queries go in
# caught by: chunked_prefill
import numpy as np


def new_kv_cache():
    return []


def attention_step(q, k, v, kv_cache):
    kv_cache.append((k, v))
    k, v = (np.concatenate(x, axis=2) for x in zip(*kv_cache))
    s = np.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    rows = k.shape[2] - q.shape[2] + np.arange(q.shape[2])
    s[..., np.arange(k.shape[2]) > rows[:, None]] = -np.inf
    s = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", s / s.sum(-1, keepdims=True), v)


def chunked_prefill(k, v, kv_cache, chunk_size):
    outs = [
        attention_step(k[:, :, i : i + chunk_size], k[:, :, i : i + chunk_size], v[:, :, i : i + chunk_size], kv_cache)
        for i in range(0, k.shape[2], chunk_size)
    ]
    return np.concatenate(outs, axis=2)
