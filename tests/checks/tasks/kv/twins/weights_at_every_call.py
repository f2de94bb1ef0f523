# style: a function over bare weights, told the number of heads at every call; the cache is a dict that grows
# skips: gqa, paged, quantized, memory_model, purity
# skips: variable_lengths, isolation, capacity, cache_size_minimality (the cache is a part of the layer)
"""Multi-head attention with a KV cache held in a plain dict.

The cache is ``{"k": (B, H, T, Dh), "v": (B, H, T, Dh)}`` and grows by concatenation.
"""

import numpy as np


def init_params(d_model, seed=0):
    """Weights of one attention block."""
    rng = np.random.default_rng(seed)
    std = 1.0 / np.sqrt(d_model)
    return {
        name: rng.normal(0.0, std, size=(d_model, d_model))
        for name in ("w_q", "w_k", "w_v", "w_o")
    }


def empty_cache():
    return {"k": None, "v": None}


def _heads(t, n_heads):
    b, s, d = t.shape
    return t.reshape(b, s, n_heads, d // n_heads).transpose(0, 2, 1, 3)


def _softmax(a):
    a = a - a.max(axis=-1, keepdims=True)
    e = np.exp(a)
    return e / e.sum(axis=-1, keepdims=True)


def mha_with_cache(x, params, n_heads, cache=None):
    """Attend from the tokens of ``x`` to everything seen so far.

    Args:
        x: (B, S, d_model) new tokens; S may be the whole prompt or one token.
        params: dict of projection matrices.
        n_heads: number of heads.
        cache: what the last call returned, or None at the start.

    Returns:
        (out, cache): out is (B, S, d_model).
    """
    if cache is None:
        cache = empty_cache()
    q = _heads(x @ params["w_q"], n_heads)
    k = _heads(x @ params["w_k"], n_heads)
    v = _heads(x @ params["w_v"], n_heads)
    if cache["k"] is not None:
        k = np.concatenate([cache["k"], k], axis=2)
        v = np.concatenate([cache["v"], v], axis=2)
    new_cache = {"k": k, "v": v}

    s, total = q.shape[2], k.shape[2]
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    rows = np.arange(total - s, total)[:, None]
    cols = np.arange(total)[None, :]
    scores = np.where(cols <= rows, scores, -np.inf)
    ctx = np.einsum("bhqk,bhkd->bhqd", _softmax(scores), v)
    b, h, s, dh = ctx.shape
    out = ctx.transpose(0, 2, 1, 3).reshape(b, s, h * dh) @ params["w_o"]
    return out, new_cache


def cache_nbytes(cache):
    if cache["k"] is None:
        return 0
    return cache["k"].nbytes + cache["v"].nbytes


if __name__ == "__main__":
    rng = np.random.default_rng(1)
    p = init_params(32)
    x = rng.normal(size=(2, 7, 32))
    full, _ = mha_with_cache(x, p, 4)
    cache = None
    for t in range(7):
        step, cache = mha_with_cache(x[:, t : t + 1], p, 4, cache)
        assert np.allclose(step, full[:, t : t + 1])
    print("incremental == full")
