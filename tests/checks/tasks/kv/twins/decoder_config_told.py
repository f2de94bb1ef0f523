# style: a NamedTuple of sizes goes into every call; its cache is a tuple of layers, lengths are counted apart
# only: incremental_equals_full, variable_lengths, growth, gqa
from typing import NamedTuple

import numpy as np


class ModelConfig(NamedTuple):
    vocab: int = 53
    width: int = 24
    layers: int = 2
    heads: int = 6
    kv_heads: int = 2

    @property
    def head_dim(self):
        return self.width // self.heads


class Kept(NamedTuple):
    pairs: tuple
    lengths: np.ndarray


def make_params(config: ModelConfig, seed: int = 0):
    rng = np.random.default_rng(seed)
    narrow = config.kv_heads * config.head_dim

    def layer():
        return {
            name: rng.normal(size=(config.width, out)) / np.sqrt(config.width)
            for name, out in (("q", config.width), ("k", narrow), ("v", narrow), ("o", config.width))
        }

    return {"embed": rng.normal(size=(config.vocab, config.width)), "layers": [layer() for _ in range(config.layers)]}


def new_cache(config: ModelConfig, batch: int, length: int) -> Kept:
    shape = (2, batch, length, config.kv_heads, config.head_dim)
    return Kept(tuple(np.zeros(shape) for _ in range(config.layers)), np.zeros(batch, int))


def turned(x, at):
    half = x.shape[-1] // 2
    angle = at[:, :, None, None] / 100.0 ** (np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], axis=-1)


def feed_columns(params, config, cache, tokens, counts):
    batch, columns = tokens.shape
    at = cache.lengths[:, None] + np.arange(columns)
    if (cache.lengths + counts).max() > cache.pairs[0].shape[2]:
        raise ValueError("cache overflow")
    x, pairs = params["embed"][tokens], []
    for p, pair in zip(params["layers"], cache.pairs, strict=True):
        pair = pair.copy()
        q = turned((x @ p["q"]).reshape(batch, columns, config.heads, -1), at)
        k = turned((x @ p["k"]).reshape(batch, columns, config.kv_heads, -1), at)
        v = (x @ p["v"]).reshape(batch, columns, config.kv_heads, -1)
        for b, n in enumerate(counts):
            pair[0, b, at[b, :n]], pair[1, b, at[b, :n]] = k[b, :n], v[b, :n]
        keys, values = (np.repeat(side, config.heads // config.kv_heads, axis=2) for side in pair)
        scores = np.einsum("bqhd,bkhd->bhqk", q, keys) / np.sqrt(config.head_dim)
        hidden = np.arange(keys.shape[1]) > at[:, :, None]
        scores = np.where(hidden[:, None], -np.inf, scores)
        w = np.exp(scores - scores.max(axis=-1, keepdims=True))
        w /= w.sum(axis=-1, keepdims=True)
        x = x + np.einsum("bhqk,bkhd->bqhd", w, values).reshape(batch, columns, -1) @ p["o"]
        pairs.append(pair)
    return x @ params["embed"].T, Kept(tuple(pairs), cache.lengths + counts)


def prefill(params, config, cache, tokens, n_new=None):
    """Logits (B, V) behind each row's last real token."""
    tokens = np.asarray(tokens)
    counts = np.full(len(tokens), tokens.shape[1]) if n_new is None else np.asarray(n_new)
    logits, cache = feed_columns(params, config, cache, tokens, counts)
    return logits[np.arange(len(tokens)), counts - 1], cache


def decode_step(params, config, cache, token, active=None):
    token = np.asarray(token)
    counts = np.ones(len(token), int) if active is None else np.asarray(active).astype(int)
    logits, cache = feed_columns(params, config, cache, token[:, None], counts)
    return logits[:, 0], cache
