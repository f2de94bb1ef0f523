# bug: every row's length moves by that of the longest, so that rows that have less attend to padding
# caught by: variable_lengths
# passes: incremental_equals_full
import numpy as np


def init_cache(batch, n_layers, n_heads, max_len, head_dim):
    shape = (n_layers, batch, max_len, n_heads, head_dim)
    return {
        "k": np.zeros(shape, np.float32),
        "v": np.zeros(shape, np.float32),
        "used": np.zeros(batch, np.int64),
    }


def write(cache, layer, k, v):
    """k, v (B, T, H, D); rows that have fewer than T tokens say so to advance()."""
    rows, slots = np.arange(len(k))[:, None], cache["used"][:, None] + np.arange(k.shape[1])
    if slots.max() >= cache["k"].shape[2]:
        raise ValueError("the cache is full")
    new = {name: cache[name].copy() for name in "kv"}
    new["k"][layer][rows, slots], new["v"][layer][rows, slots] = k, v
    return {**cache, **new}


def advance(cache, lengths):
    return {**cache, "used": cache["used"] + np.max(lengths)}


def attend(q, cache, layer):
    """q (B, T, H, D), of tokens that are written and not advanced over."""
    seen = cache["used"][:, None] + np.arange(q.shape[1])
    s = np.einsum("bthd,bshd->bhts", q, cache["k"][layer]) / np.sqrt(q.shape[-1])
    s[np.broadcast_to((np.arange(s.shape[3]) > seen[..., None])[:, None], s.shape)] = -np.inf
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhts,bshd->bthd", p / p.sum(-1, keepdims=True), cache["v"][layer])
