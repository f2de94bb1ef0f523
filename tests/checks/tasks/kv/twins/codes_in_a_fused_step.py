# style: eight-bit codes under a plain name, fused with attention in one function over a dict
# skips: incremental_equals_full (its only cache keeps codes)
# only: quantized, incremental_equals_full, capacity
"""INT8 KV cache, fused decode attention only (nothing named after quantization)."""
import numpy as np


def create_cache(batch, heads, max_len, dim):
    return dict(k=np.zeros((batch, heads, max_len, dim), np.int8), v=np.zeros((batch, heads, max_len, dim), np.int8),
                sk=np.zeros((batch, heads, max_len, 1), np.float16), sv=np.zeros((batch, heads, max_len, 1), np.float16), n=0)


def _enc(x):
    s = (np.abs(x).max(-1, keepdims=True) / 127.0).astype(np.float16)
    return np.clip(np.rint(x / np.maximum(s.astype(np.float32), 1e-6)), -127, 127).astype(np.int8), s


def decode_step(q, k, v, cache):
    """(batch, heads, 1, dim) each; appends and attends."""
    n = cache["n"]
    if n >= cache["k"].shape[2]:
        raise ValueError("cache full")
    cache["k"][:, :, n:n + 1], cache["sk"][:, :, n:n + 1] = _enc(k)
    cache["v"][:, :, n:n + 1], cache["sv"][:, :, n:n + 1] = _enc(v)
    cache["n"] = n + 1
    K = cache["k"][:, :, :n + 1].astype(np.float32) * cache["sk"][:, :, :n + 1]
    V = cache["v"][:, :, :n + 1].astype(np.float32) * cache["sv"][:, :, :n + 1]
    s = q @ K.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True)) @ V


