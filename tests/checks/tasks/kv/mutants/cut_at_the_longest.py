# bug: steps see as many slots of every sequence as the longest one has, written or not
# caught by: variable_lengths, isolation
# passes: incremental_equals_full, growth, capacity
import numpy as np


def init_cache(batch, heads, max_len, head_dim, dtype=np.float32):
    room = np.zeros((batch, heads, max_len, head_dim), dtype)
    return dict(keys=room, values=room.copy(), used=np.zeros(batch, int))


def _put(cache, row, k, v):
    end = cache["used"][row] + k.shape[1]
    if end > cache["keys"].shape[2]:
        raise BufferError("no room")
    cache["keys"][row, :, end - k.shape[1]:end] = k
    cache["values"][row, :, end - k.shape[1]:end] = v
    cache["used"][row] = end


def _softmax(s):
    s = np.exp(s - s.max(axis=-1, keepdims=True))
    return s / s.sum(axis=-1, keepdims=True)


def prefill(q, k, v, cache, row):
    """One sequence, (heads, tokens, width)."""
    _put(cache, row, k, v)
    n, t = cache["used"][row], q.shape[1]
    K, V = cache["keys"][row, :, :n], cache["values"][row, :, :n]
    s = np.einsum("htd,hsd->hts", q, K) * q.shape[-1] ** -0.5
    s = np.where(np.tri(t, n, n - t, dtype=bool), s, -np.inf)
    return np.einsum("hts,hsd->htd", _softmax(s), V)


def decode_step(q, k, v, cache):
    """All sequences, (batch, heads, width), one token each."""
    for row, (key, value) in enumerate(zip(k, v)):
        _put(cache, row, key[:, None], value[:, None])
    n = max(cache["used"])
    s = np.einsum("bhd,bhsd->bhs", q, cache["keys"][:, :, :n]) * q.shape[-1] ** -0.5
    return np.einsum("bhs,bhsd->bhd", _softmax(s), cache["values"][:, :, :n])
