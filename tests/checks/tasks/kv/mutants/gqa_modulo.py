# bug: query head h reads KV head h % G instead of h // (H / G)
# caught by: gqa
import numpy as np


def make_cache():
    return []


def cached_step(q, k, v, cache):
    cache.append((k, v))
    keys, values = (np.concatenate(x, axis=2) for x in zip(*cache))
    return grouped_query_attention(q, keys, values)


def grouped_query_attention(q, k, v):
    heads, kv_heads = q.shape[1], k.shape[1]
    out = np.zeros(q.shape)
    start = k.shape[2] - q.shape[2]
    for h in range(heads):
        g = h % kv_heads
        s = q[:, h] @ k[:, g].swapaxes(1, 2) / np.sqrt(q.shape[-1])
        s = np.where(np.arange(k.shape[2]) <= start + np.arange(q.shape[2])[:, None], s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        out[:, h] = p / p.sum(-1, keepdims=True) @ v[:, g]
    return out
