# bug: told how many tokens of each row are real, it stores the padding all the same, and steps attend to it
# caught by: variable_lengths
# passes: incremental_equals_full
from dataclasses import dataclass

import numpy as np


@dataclass
class LMConfig:
    vocab_size: int = 37
    n_layers: int = 2
    n_heads: int = 4
    d_model: int = 32


def init_model(cfg: LMConfig, seed: int = 0):
    rng = np.random.RandomState(seed)
    e = cfg.d_model
    return dict(table=rng.randn(cfg.vocab_size, e), mats=rng.randn(cfg.n_layers, 4, e, e) / np.sqrt(e))


def init_cache(cfg: LMConfig, batch: int):
    shape = (cfg.n_layers, batch, cfg.n_heads, 0, cfg.d_model // cfg.n_heads)
    return dict(k=np.zeros(shape), v=np.zeros(shape), seen=np.zeros(batch, int))


def _positions(first, count, width):
    at = first[:, None] + np.arange(count)
    return np.sin(at[..., None] / 50.0 ** (np.arange(width) / width) + np.arange(width))


def _forward(params, cfg, cache, ids):
    batch, count = ids.shape
    past = cache["k"].shape[3]
    x = params["table"][ids] + _positions(cache["seen"], count, cfg.d_model)
    visible = np.arange(past + count) <= np.arange(past, past + count)[:, None]
    new_k, new_v = [], []
    for layer, (wq, wk, wv, wo) in enumerate(params["mats"]):
        q, k, v = ((x @ w).reshape(batch, count, cfg.n_heads, -1).swapaxes(1, 2) for w in (wq, wk, wv))
        k, v = (np.concatenate([cache[n][layer], new], axis=2) for n, new in (("k", k), ("v", v)))
        new_k.append(k)
        new_v.append(v)
        scores = np.where(visible, q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1]), -np.inf)
        w = np.exp(scores - scores.max(-1, keepdims=True))
        x = x + (w / w.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(batch, count, -1) @ wo
    return x @ params["table"].T, dict(k=np.stack(new_k), v=np.stack(new_v), seen=cache["seen"])


def prefill(params, cfg, cache, ids, lengths):
    logits, cache = _forward(params, cfg, cache, np.asarray(ids))
    cache["seen"] = cache["seen"] + np.asarray(lengths)
    return logits, cache


def decode_step(params, cfg, cache, token):
    logits, cache = _forward(params, cfg, cache, np.asarray(token)[:, None])
    cache["seen"] = cache["seen"] + 1
    return logits[:, 0], cache
