# A cache of fixed length, made from a config, whose update gives back its whole rooms; the model masks what is empty.
# skips: variable_lengths (no call takes lengths)
import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class ModelSettings:
    vocab_size: int = 48
    hidden_size: int = 32
    num_hidden_layers: int = 3
    num_attention_heads: int = 4
    num_key_value_heads: int = 2

    @property
    def head_dim(self):
        return self.hidden_size // self.num_attention_heads


class FixedCache:
    def __init__(self, config, max_batch_size, max_cache_len, dtype=np.float32):
        per_layer = (max_batch_size, config.num_key_value_heads, max_cache_len, config.head_dim)
        self.rooms = [(np.zeros(per_layer, dtype), np.zeros(per_layer, dtype)) for _ in range(config.num_hidden_layers)]
        self.used = np.zeros(config.num_hidden_layers, dtype=int)

    def get_seq_length(self, layer_idx=0):
        return int(self.used[layer_idx])

    def get_max_cache_shape(self):
        return self.rooms[0][0].shape[2]

    def update(self, key_states, value_states, layer_idx):
        begin, count = self.used[layer_idx], key_states.shape[2]
        if begin + count > self.get_max_cache_shape():
            raise IndexError(f"{count} more tokens do not fit: {begin} of {self.get_max_cache_shape()} are there")
        for room, states in zip(self.rooms[layer_idx], (key_states, value_states)):
            room[:, :, begin : begin + count] = states
        self.used[layer_idx] += count
        return self.rooms[layer_idx]


def rotated(x, at):
    """Pairs of neighbours turned by their place; x (B, H, T, D), at (T,)."""
    turn = np.exp(1j * at[:, None] / 1e4 ** (np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    pairs = (x[..., 0::2] + 1j * x[..., 1::2]) * turn
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape).astype(x.dtype)


class LanguageModel:
    def __init__(self, config=None, seed=0, dtype=np.float32):
        self.config = config = config or ModelSettings()
        rng, e, self.dtype = np.random.default_rng(seed), config.hidden_size, dtype
        kv = config.num_key_value_heads * config.head_dim
        self.embed = rng.standard_normal((config.vocab_size, e)).astype(dtype)
        self.layers = [
            [(rng.standard_normal((e, out)) / e**0.5).astype(dtype) for out in (e, kv, kv, e)]
            for _ in range(config.num_hidden_layers)
        ]

    def init_cache(self, batch_size=1, max_length=64):
        return FixedCache(self.config, batch_size, max_length, self.dtype)

    def __call__(self, input_ids, past_key_values):
        """Logits (B, T, V) of tokens behind those in the cache."""
        c, (b, t) = self.config, input_ids.shape
        at = past_key_values.get_seq_length() + np.arange(t)
        x = self.embed[input_ids]
        empty = np.arange(past_key_values.get_max_cache_shape()) > at[:, None]
        for i, (wq, wk, wv, wo) in enumerate(self.layers):
            n = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + self.dtype(1e-6))
            q, k, v = ((n @ w).reshape(b, t, -1, c.head_dim).swapaxes(1, 2) for w in (wq, wk, wv))
            keys, values = past_key_values.update(rotated(k, at), v, i)
            q = rotated(q, at).reshape(b, c.num_key_value_heads, -1, t, c.head_dim)
            scores = np.einsum("bgrtd,bgsd->bgrts", q, keys) / self.dtype(c.head_dim**0.5)
            scores = np.where(empty, self.dtype(-1e9), scores)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            y = np.einsum("bgrts,bgsd->bgrtd", p, values).reshape(b, -1, t, c.head_dim)
            x = x + y.swapaxes(1, 2).reshape(b, t, -1) @ wo
        return x @ self.embed.T
