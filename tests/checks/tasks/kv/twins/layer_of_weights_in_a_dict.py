# style: functions over a dict of weights; the cache is a pair that is cut to the window and given back
# warns: capacity (a window forgets)
# only: incremental_equals_full, capacity, chunked_prefill
# passes: chunked_prefill
import numpy as np


def init_params(d_model, n_heads, window, seed=0):
    rng = np.random.default_rng(seed)
    params = {
        name: rng.standard_normal((d_model, d_model)) / np.sqrt(d_model) for name in ("q", "k", "v", "o")
    }
    return {**params, "n_heads": n_heads, "window": window}


def attention_with_cache(params, x, cache=None):
    """x: (B, T, d_model), behind what the cache has; gives the output and the cache for what comes next."""
    heads, window = params["n_heads"], params["window"]
    q, k, v = ((x @ params[name]).reshape(*x.shape[:2], heads, -1) for name in ("q", "k", "v"))
    if cache is not None:
        k, v = np.concatenate([cache[0], k], axis=1), np.concatenate([cache[1], v], axis=1)
    old = k.shape[1] - x.shape[1]
    row, key = np.arange(old, k.shape[1])[:, None], np.arange(k.shape[1])
    scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
    scores = np.where((key <= row) & (key > row - window), scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    out = np.einsum("bhts,bshd->bthd", p / p.sum(-1, keepdims=True), v)
    return out.reshape(x.shape) @ params["o"], (k[:, -window:], v[:, -window:])
