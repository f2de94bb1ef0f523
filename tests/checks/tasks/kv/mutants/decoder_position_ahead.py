# bug: a decode step is embedded one position ahead of where its token stands; the prompt is right
# caught by: incremental_equals_full
# passes: growth
from typing import NamedTuple

import numpy as np


class Past(NamedTuple):
    keys: np.ndarray  # (L, B, H, S, D)
    values: np.ndarray
    filled: int


def make_params(rng_seed, vocab_size, d_model, num_heads, num_layers, max_len, dtype=np.float32):
    gen = np.random.default_rng(rng_seed)

    def draw(*shape):
        return gen.normal(0, shape[-1] ** -0.5, shape).astype(dtype)

    return dict(
        words=5 * draw(vocab_size, d_model), places=draw(max_len + 1, d_model), num_heads=num_heads,
        wq=draw(num_layers, d_model, d_model), wk=draw(num_layers, d_model, d_model),
        wv=draw(num_layers, d_model, d_model), wo=draw(num_layers, d_model, d_model),
    )


def init_kv_cache(num_layers, batch_size, num_heads, max_len, head_dim, dtype=np.float32):
    store = np.zeros((2, num_layers, batch_size, num_heads, max_len, head_dim), dtype)
    return Past(store[0], store[1], 0)


def _forward(params, ids, past, first):
    batch, count = ids.shape
    end, heads = past.filled + count, params["num_heads"]
    x = params["words"][ids] + params["places"][first : first + count]
    keys, values = past.keys.copy(), past.values.copy()
    visible = np.tri(count, end, past.filled, dtype=bool)
    for n in range(len(keys)):
        q, k, v = (
            (x @ params[w][n]).reshape(batch, count, heads, -1).swapaxes(1, 2) for w in ("wq", "wk", "wv")
        )
        keys[n, :, :, past.filled : end], values[n, :, :, past.filled : end] = k, v
        scores = q @ keys[n, :, :, :end].swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(q.dtype)
        scores = np.where(visible, scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        x = x + (p @ values[n, :, :, :end]).swapaxes(1, 2).reshape(batch, count, -1) @ params["wo"][n]
    return x @ params["words"].T, Past(keys, values, end)


def prefill(params, prompt_ids, past):
    return _forward(params, np.asarray(prompt_ids), past, past.filled)


def decode_step(params, token_ids, past):
    logits, past = _forward(params, np.asarray(token_ids)[:, None], past, past.filled + 1)
    return logits[:, 0], past
