# style: pure functions; the cache is made from sizes alone, and every call gives the next one
# only: incremental_equals_full, variable_lengths, growth, gqa
from collections import namedtuple

import numpy as np

State = namedtuple("State", ["k", "v", "seen"])


def init_weights(seed, vocab_size, width, n_heads, n_kv_heads, n_layers, max_len, dtype=np.float32):
    rng = np.random.default_rng(seed)
    shared = n_kv_heads * (width // n_heads)

    def table(*shape):
        return (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(dtype)

    layers = [
        {"q": table(width, width), "k": table(width, shared), "v": table(width, shared), "o": table(width, width)}
        for _ in range(n_layers)
    ]
    return {
        "tokens": 4 * table(vocab_size, width), "places": table(max_len, width), "layers": layers,
        "heads": (n_heads, n_kv_heads),
    }


def empty_cache(num_layers, batch_size, num_kv_heads, head_dim, max_seq_len, dtype=np.float32):
    shape = (num_layers, batch_size, max_seq_len, num_kv_heads, head_dim)
    return State(np.zeros(shape, dtype), np.zeros(shape, dtype), np.zeros(batch_size, np.int64))


def _run(weights, ids, state, counts):
    (batch, count), (heads, shared) = ids.shape, weights["heads"]
    if (state.seen + counts > state.k.shape[2]).any():
        raise ValueError("the cache is full")
    at = state.seen[:, None] + np.arange(count)
    real = np.arange(count) < counts[:, None]
    rows, columns = np.nonzero(real)
    x = weights["tokens"][ids] + weights["places"][np.minimum(at, len(weights["places"]) - 1)]
    keys, values = state.k.copy(), state.v.copy()
    visible = np.arange(keys.shape[2]) <= at[:, :, None]
    for n, layer in enumerate(weights["layers"]):
        h = x / (1e-5 + np.sqrt((x**2).mean(-1, keepdims=True)))
        q = (h @ layer["q"]).reshape(batch, count, shared, heads // shared, -1)
        keys[n, rows, at[real]] = (h @ layer["k"]).reshape(batch, count, shared, -1)[rows, columns]
        values[n, rows, at[real]] = (h @ layer["v"]).reshape(batch, count, shared, -1)[rows, columns]
        scores = np.einsum("btghd,bsgd->bghts", q, keys[n]) / np.sqrt(q.shape[-1]).astype(q.dtype)
        scores = np.where(visible[:, None, None], scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = np.einsum("bghts,bsgd->btghd", p / p.sum(-1, keepdims=True), values[n])
        x = x + mixed.reshape(batch, count, -1) @ layer["o"]
    return x @ weights["tokens"].T, State(keys, values, state.seen + counts)


def prefill(weights, prompts, state, prompt_lens=None):
    prompts = np.asarray(prompts)
    counts = np.full(len(prompts), prompts.shape[1]) if prompt_lens is None else np.asarray(prompt_lens)
    return _run(weights, prompts, state, counts)


def decode(weights, token, state):
    logits, state = _run(weights, np.asarray(token)[:, None], state, np.ones(len(token), np.int64))
    return logits[:, 0], state
