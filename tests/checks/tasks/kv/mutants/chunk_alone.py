# bug: a chunk attends to itself alone
# caught by: chunked_prefill
import numpy as np


def attention(q, k, v, causal=True):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        s = np.where(np.tri(*s.shape[-2:], s.shape[-1] - s.shape[-2], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


def prefill_chunks(q, k, v, n_chunks):
    parts = (np.array_split(x, min(n_chunks, q.shape[2]), axis=2) for x in (q, k, v))
    return [attention(*part) for part in zip(*parts)]


def attend_with_cache(q, k, v, past=None):
    if past is not None:
        k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
    return attention(q, k, v), (k, v)
