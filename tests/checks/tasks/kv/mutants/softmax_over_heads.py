# bug: the softmax runs over the heads, not over the tokens
# caught by: incremental_equals_full
import numpy as np


def new_cache(batch, n_heads, head_dim):
    empty = np.zeros((batch, n_heads, 0, head_dim), np.float32)
    return {"k": empty, "v": empty.copy()}


def append_kv(cache, k, v):
    cache["k"] = np.concatenate([cache["k"], k], axis=2)
    cache["v"] = np.concatenate([cache["v"], v], axis=2)


def get_kv(cache):
    return cache["k"], cache["v"]


def attention_step(q, k, v, cache):
    append_kv(cache, k, v)
    keys, values = get_kv(cache)
    scores = np.einsum("bhqd,bhkd->bhqk", q, keys) * q.shape[-1] ** -0.5
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=1, keepdims=True)
    return np.einsum("bhqk,bhkd->bhqd", weights, values)
