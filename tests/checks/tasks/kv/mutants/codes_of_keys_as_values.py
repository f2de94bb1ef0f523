# bug: over codes that it alone fills, a function takes the weighted sum of the keys, not of the values
# only: quantized, capacity
# caught by: quantized
import numpy as np


def create_quantized_cache(batch, n_heads, max_len, head_dim):
    shape = (2, batch, n_heads, max_len)
    return {"codes": np.zeros((*shape, head_dim), np.int8), "scales": np.zeros(shape, np.float32), "used": 0}


def attention_with_cache(q, k, v, cache):
    start, stop = cache["used"], cache["used"] + k.shape[2]
    if stop > cache["codes"].shape[3]:
        raise OverflowError(f"{stop} tokens, and room for {cache['codes'].shape[3]}")
    both = np.stack([k, v])
    scales = np.maximum(np.abs(both).max(axis=-1), 1e-9) / 127
    cache["codes"][:, :, :, start:stop] = np.round(both / scales[..., None])
    cache["scales"][:, :, :, start:stop] = scales
    cache["used"] = stop
    keys, values = cache["codes"][:, :, :, :stop] * cache["scales"][:, :, :, :stop, None]
    s = np.matmul(q, np.swapaxes(keys, -1, -2)) / np.sqrt(q.shape[-1])
    s = np.where(np.tri(k.shape[2], stop, start, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.matmul(p / p.sum(axis=-1, keepdims=True), keys)
