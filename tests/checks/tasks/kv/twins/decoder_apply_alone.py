# style: one function for prompt, chunk and step; sizes of the cache by keyword, what is real as counts
# only: incremental_equals_full, variable_lengths, growth
import numpy as np


def init_params(seed: int, *, vocab=31, dim=24, heads=3, layers=2, max_pos=64, dtype=np.float64):
    rng = np.random.default_rng(seed)

    def matrix(rows, columns):
        return (rng.uniform(-1, 1, (rows, columns)) * np.sqrt(3 / rows)).astype(dtype)

    blocks = [{name: matrix(dim, dim) for name in ("query", "key", "value", "out")} for _ in range(layers)]
    return {"embed": matrix(vocab, dim) * 3, "place": matrix(max_pos, dim) * 3, "blocks": blocks, "heads": heads}


def init_cache(batch: int, max_len: int, *, layers: int, kv_heads: int, head_dim: int, dtype=np.float64):
    return {
        "kv": np.zeros((layers, 2, batch, max_len, kv_heads, head_dim), dtype),
        "length": np.zeros(batch, np.int32),
    }


def apply(params, tokens, cache, valid=None):
    """Logits (B, T, V), the next cache; row b has valid[b] real tokens, the rest is padding."""
    tokens = np.asarray(tokens)
    batch, count = tokens.shape
    valid = np.full(batch, count) if valid is None else np.asarray(valid)
    if valid.shape != (batch,) or valid.max() > count:
        raise ValueError("valid holds one count per row")
    before, store = cache["length"], cache["kv"].copy()
    if (before + valid).max() > store.shape[3]:
        raise ValueError("more tokens than the cache holds")
    at = before[:, None] + np.arange(count)
    x = params["embed"][tokens] + params["place"][np.minimum(at, len(params["place"]) - 1)]
    for block, (keys, values) in zip(params["blocks"], store, strict=True):
        q, k, v = ((x @ block[n]).reshape(batch, count, params["heads"], -1) for n in ("query", "key", "value"))
        for b, n in enumerate(valid):
            keys[b, before[b] : before[b] + n] = k[b, :n]
            values[b, before[b] : before[b] + n] = v[b, :n]
        scores = np.einsum("bthd,bshd->bhts", q, keys) * q.dtype.type(q.shape[-1] ** -0.5)
        scores[np.broadcast_to((np.arange(keys.shape[1]) > at[:, :, None])[:, None], scores.shape)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        x = x + np.einsum("bhts,bshd->bthd", weights, values).reshape(batch, count, -1) @ block["out"]
    return x @ params["embed"].T, {"kv": store, "length": before + valid}
