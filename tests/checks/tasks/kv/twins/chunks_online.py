# A pure function, keyword-only chunk, running maximum over blocks of keys; float32 in, float64 out; a list cache beside it.
# passes: chunked_prefill
# skips: isolation (nothing past a length), variable_lengths (takes no lengths)
import numpy as np


def chunked_prefill_attention(keys, values, queries, *, prefill_chunk_size=8):
    B, H, S, D = queries.shape
    result = np.zeros((B, H, S, D))
    for a in range(0, S, prefill_chunk_size):
        q = queries[:, :, a : a + prefill_chunk_size].astype(float)
        top = np.full(q.shape[:3], -np.inf)
        norm, acc = np.zeros(q.shape[:3]), np.zeros(q.shape)
        for b in range(0, a + 1, prefill_chunk_size):
            s = q @ keys[:, :, b : b + prefill_chunk_size].astype(float).swapaxes(2, 3) / D**0.5
            row = a + np.arange(q.shape[2])[:, None]
            s = np.where(b + np.arange(s.shape[3]) <= row, s, -np.inf)
            new = np.maximum(top, s.max(-1))
            p, shrink = np.exp(s - new[..., None]), np.exp(top - new)
            norm = norm * shrink + p.sum(-1)
            acc = acc * shrink[..., None] + p @ values[:, :, b : b + prefill_chunk_size].astype(float)
            top = new
        result[:, :, a : a + prefill_chunk_size] = acc / norm[..., None]
    return result


def make_cache():
    return {"k": [], "v": []}


def cache_attention(q, k, v, cache):
    cache["k"].append(k), cache["v"].append(v)
    k, v = np.concatenate(cache["k"], 2), np.concatenate(cache["v"], 2)
    s = q @ k.swapaxes(2, 3) / q.shape[-1] ** 0.5
    n, m = s.shape[2:]
    s = np.where(np.tri(n, m, m - n, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
