# bug: steps are written where the longest sequence ends
# caught by: variable_lengths, isolation
import numpy as np


def new_cache(batch, heads, max_len, dim):
    return {"k": np.zeros((batch, heads, max_len, dim)), "v": np.zeros((batch, heads, max_len, dim)),
            "lens": np.zeros(batch, int)}


def attend_with_cache(q, k, v, cache, num_new):
    start, T = int(cache["lens"].max()), k.shape[2]
    for b, n in enumerate(num_new):
        cache["k"][b, :, start:start + n] = k[b, :, :n]
        cache["v"][b, :, start:start + n] = v[b, :, :n]
        cache["lens"][b] += n
    out = np.zeros(q.shape)
    for b, total in enumerate(cache["lens"]):
        if total == 0:
            continue
        s = q[b] @ cache["k"][b, :, :total].swapaxes(1, 2) / q.shape[-1] ** 0.5
        w = np.exp(s - s.max(-1, keepdims=True))
        out[b] = w / w.sum(-1, keepdims=True) @ cache["v"][b, :, :total]
    return out
