# bug: several tokens are stored behind what is there, and see each other alone
# caught by: chunked_prefill, incremental_equals_full
# passes: capacity
import math

import numpy as np


def make_cache(batch, heads, capacity, head_dim, dtype=np.float32):
    shape = (batch, heads, capacity, head_dim)
    return {"keys": np.zeros(shape, dtype), "values": np.zeros(shape, dtype), "n": 0}


def cached_attention(q, k, v, cache):
    """Append k and v, (B, H, T, D), and attend causally with q: one token or several."""
    start, t = cache["n"], k.shape[2]
    if start + t > cache["keys"].shape[2]:
        raise ValueError(f"{start + t} tokens, and room for {cache['keys'].shape[2]}")
    cache["keys"][:, :, start : start + t] = k
    cache["values"][:, :, start : start + t] = v
    cache["n"] = start + t
    if t > 1:
        return _causal(q, k, v)
    return _causal(q, cache["keys"][:, :, : start + t], cache["values"][:, :, : start + t])


def _causal(q, k, v):
    rows, columns = q.shape[2], k.shape[2]
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    scores = np.where(np.tri(rows, columns, columns - rows, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", weights / weights.sum(axis=-1, keepdims=True), v)
