# style: codes are attended over by one call for prompts, and by another for steps, which works on the codes themselves
# only: quantized, incremental_equals_full
# skips: incremental_equals_full (its only cache keeps codes)
import numpy as np


class Int8KVCache:
    """Eight bits a number, and a scale for every token and head."""

    def __init__(self, kv_heads, head_dim):
        shape = (0, kv_heads, head_dim)
        self.parts = [[np.zeros(shape, np.int8), np.zeros(shape[:2], np.float32)] for _ in "kv"]

    def append(self, k, v):
        """Tokens, (tokens, kv_heads, head_dim)."""
        for part, x in zip(self.parts, (k, v)):
            scale = np.abs(x).max(-1).astype(np.float32) / 127
            codes = np.rint(x / np.where(scale, scale, 1)[..., None]).astype(np.int8)
            part[0], part[1] = np.concatenate([part[0], codes]), np.concatenate([part[1], scale])

    def floats(self):
        return [codes * scales[..., None] for codes, scales in self.parts]


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def prompt_attention(q, cache):
    """The newest tokens, (tokens, heads, head_dim)."""
    k, v = cache.floats()
    count, total = len(q), len(k)
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(count, total, total - count, dtype=bool), scores, -np.inf)
    return np.einsum("hqk,khd->qhd", _softmax(scores), v)


def step_attention(q, cache):
    """One token, (heads, head_dim)."""
    heads, width = q.shape
    (keys, of_keys), (values, of_values) = cache.parts
    scores = np.einsum("hd,khd->hk", q, keys.astype(np.float32)) * of_keys.T / np.sqrt(width)
    weights = _softmax(scores) * of_values.T
    return np.einsum("hk,khd->hd", weights, values.astype(np.float32)).reshape(heads, width)
