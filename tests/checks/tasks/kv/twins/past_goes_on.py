# style: one function for any number of tokens; the past is a pair that is given back
# only: chunked_prefill, incremental_equals_full
# passes: chunked_prefill
import numpy as np


def attention_with_cache(q, k, v, past=None):
    """(B, T, H, D) each; gives the output and the past with the new tokens behind it."""
    held = 0 if past is None else past[0].shape[1]
    if past is not None:
        k, v = np.concatenate((past[0], k), axis=1), np.concatenate((past[1], v), axis=1)
    scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
    later = np.arange(k.shape[1])[None] > held + np.arange(q.shape[1])[:, None]
    scores[..., later] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("bhts,bshd->bthd", weights, v), (k, v)
