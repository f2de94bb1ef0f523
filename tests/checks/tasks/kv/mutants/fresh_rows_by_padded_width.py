# bug: queries of a padded batch stand where the padded width ends; sizes come in a dict, keys are transposed
# caught by: variable_lengths
# passes: incremental_equals_full, isolation, capacity, gqa, memory_model
"""
Cached multi-head self-attention, the plain way: dicts for weights and cache.

    cfg    = {"d_model": 64, "n_heads": 8, "n_kv_heads": 2, "max_seq_len": 128}
    params = init_params(cfg)
    cache  = make_cache(cfg, batch_size=3)

    y = forward_prompt(params, cfg, x, cache, n_new=[5, 2, 7])   # x (3, 7, 64)
    y = forward_token(params, cfg, x_t, cache)                   # x_t (3, 64)

The cache is updated in place. Its entries:

    cache["kT"]  (B, n_kv_heads, head_dim, max_seq_len)   keys, stored transposed so
                                                          that q @ kT needs no copy
    cache["v"]   (B, n_kv_heads, max_seq_len, head_dim)   values
    cache["len"] (B,)                                     tokens held by each row

Prompts of different lengths are padded on the right. `n_new[b]` is the number of
real tokens of row b; the rest is never written to the cache, and its output is 0.
"""

import numpy as np


# ---------------------------------------------------------------------------
# Setup
# ---------------------------------------------------------------------------

def head_dim(cfg):
    """Size of one head."""
    return cfg["d_model"] // cfg["n_heads"]


def check_config(cfg):
    """Validate a configuration dict, raising ValueError with the reason."""
    if cfg["d_model"] % cfg["n_heads"] != 0:
        raise ValueError("d_model must be divisible by n_heads")
    if cfg["n_heads"] % cfg["n_kv_heads"] != 0:
        raise ValueError("n_heads must be divisible by n_kv_heads")
    if cfg["max_seq_len"] < 1:
        raise ValueError("max_seq_len must be positive")


def init_params(cfg, seed=0):
    """Random projection matrices, applied as x @ W."""
    check_config(cfg)
    rng = np.random.default_rng(seed)
    d, kv = cfg["d_model"], cfg["n_kv_heads"] * head_dim(cfg)
    std = d ** -0.5
    return {
        "w_q": rng.normal(0.0, std, (d, d)),
        "w_k": rng.normal(0.0, std, (d, kv)),
        "w_v": rng.normal(0.0, std, (d, kv)),
        "w_o": rng.normal(0.0, std, (d, d)),
    }


def make_cache(cfg, batch_size, dtype=np.float64):
    """Create an empty cache for one attention layer."""
    check_config(cfg)
    n, s, hd = cfg["n_kv_heads"], cfg["max_seq_len"], head_dim(cfg)
    return {
        "kT": np.zeros((batch_size, n, hd, s), dtype),
        "v": np.zeros((batch_size, n, s, hd), dtype),
        "len": np.zeros(batch_size, dtype=np.int64),
    }


def cache_bytes(cfg, batch_size, n_layers, dtype=np.float64):
    """Memory taken by the caches of a whole model."""
    per_token = 2 * cfg["n_kv_heads"] * head_dim(cfg) * np.dtype(dtype).itemsize
    return n_layers * batch_size * (cfg["max_seq_len"] * per_token + 8)


# ---------------------------------------------------------------------------
# Cache operations
# ---------------------------------------------------------------------------

def resolve_counts(n_new, batch_size, width):
    """Turn the optional n_new argument into a checked integer vector."""
    if n_new is None:
        return np.full(batch_size, width, dtype=np.int64)
    n_new = np.asarray(n_new, dtype=np.int64)
    if n_new.shape != (batch_size,):
        raise ValueError(f"n_new must have shape ({batch_size},), got {n_new.shape}")
    if np.any(n_new < 0) or np.any(n_new > width):
        raise ValueError(f"n_new must be between 0 and {width}")
    return n_new


def require_room(cache, n_new):
    """Raise OverflowError if any row cannot take its new tokens."""
    limit = cache["v"].shape[2]
    over = np.flatnonzero(cache["len"] + n_new > limit)
    if over.size:
        b = int(over[0])
        raise OverflowError(
            f"KV cache overflow in row {b}: holds {cache['len'][b]}, "
            f"{n_new[b]} more requested, max_seq_len is {limit}"
        )


def append(cache, k, v, n_new=None):
    """
    Append tokens. k and v are (B, n_kv_heads, T, head_dim); row b takes the first
    n_new[b] of its T tokens (all if n_new is None).
    """
    n_new = resolve_counts(n_new, k.shape[0], k.shape[2])
    require_room(cache, n_new)
    for b, n in enumerate(n_new):
        start = cache["len"][b]
        cache["kT"][b, :, :, start:start + n] = k[b, :, :n].swapaxes(-1, -2)
        cache["v"][b, :, start:start + n] = v[b, :, :n]
    cache["len"] += n_new


def append_step(cache, k, v):
    """Append one token to every row; k and v are (B, n_kv_heads, head_dim)."""
    append(cache, k[:, :, None], v[:, :, None])


def read(cache, b):
    """Return copies of the keys and values of row b, (n_kv_heads, len, head_dim)."""
    n = cache["len"][b]
    return cache["kT"][b, :, :, :n].swapaxes(-1, -2).copy(), cache["v"][b, :, :n].copy()


def reset(cache, b):
    """Empty row b for a new request."""
    cache["kT"][b] = 0
    cache["v"][b] = 0
    cache["len"][b] = 0


# ---------------------------------------------------------------------------
# Attention
# ---------------------------------------------------------------------------

def attend(cache, q, n_new=None):
    """
    Causal attention of freshly appended tokens against the cache.

    q is (B, n_heads, T, head_dim); the tokens must already be in the cache.
    Returns (B, n_heads, T, head_dim), zero at padded positions.
    """
    B, n_heads, T, hd = q.shape
    n_kv = cache["v"].shape[1]
    n_new = resolve_counts(n_new, B, T)
    S = max(int(cache["len"].max()), 1)

    # Absolute position of each query: the new tokens are the last ones in the cache.
    steps = np.arange(T)
    q_pos = cache["len"][:, None] - T + steps                            # (B, T)
    key_pos = np.arange(S)
    visible = key_pos <= q_pos[:, :, None]                               # (B, T, S)
    visible = visible & (steps < n_new[:, None])[:, :, None]
    visible = visible[:, None, None]                                     # (B, 1, 1, T, S)

    # Fold the query heads of a group next to their shared kv head.
    qg = q.reshape(B, n_kv, n_heads // n_kv, T, hd)
    scores = qg @ cache["kT"][:, :, None, :, :S] / np.sqrt(hd)
    scores = np.where(visible, scores, -np.inf)
    row_max = scores.max(axis=-1, keepdims=True)
    row_max = np.where(np.isneginf(row_max), 0.0, row_max)               # fully padded rows
    w = np.exp(scores - row_max)
    w = w / np.maximum(w.sum(axis=-1, keepdims=True), 1e-30)
    return (w @ cache["v"][:, :, None, :S]).reshape(B, n_heads, T, hd)


def project(x, w, n):
    """(B, T, d_model) -> (B, n, T, head_dim)"""
    B, T, _ = x.shape
    return (x @ w).reshape(B, T, n, -1).transpose(0, 2, 1, 3)


def forward_prompt(params, cfg, x, cache, n_new=None, chunk_size=None):
    """
    Run prompt activations x (B, T, d_model) through the layer, filling the cache.
    With chunk_size the prompt is processed piecewise, which bounds the score matrix.
    The cache may already contain tokens (multi-turn use). Returns (B, T, d_model).
    """
    B, T, _ = x.shape
    n_new = resolve_counts(n_new, B, T)
    require_room(cache, n_new)
    chunk_size = T if chunk_size is None else chunk_size
    if chunk_size < 1:
        raise ValueError("chunk_size must be positive")

    pieces = []
    for start in range(0, T, chunk_size):
        part = x[:, start:start + chunk_size]
        n_part = np.clip(n_new - start, 0, part.shape[1])
        q = project(part, params["w_q"], cfg["n_heads"])
        k = project(part, params["w_k"], cfg["n_kv_heads"])
        v = project(part, params["w_v"], cfg["n_kv_heads"])
        append(cache, k, v, n_part)
        o = attend(cache, q, n_part)
        pieces.append(o.transpose(0, 2, 1, 3).reshape(part.shape) @ params["w_o"])
    return np.concatenate(pieces, axis=1)


def forward_token(params, cfg, x_t, cache):
    """Decode step: x_t (B, d_model), one new token per row -> (B, d_model)."""
    return forward_prompt(params, cfg, x_t[:, None], cache)[:, 0]
