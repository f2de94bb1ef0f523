# bug: a cache of fixed length that layers update drops what comes when it is full, and says nothing
# caught by: capacity
# passes: incremental_equals_full
import numpy as np


class FixedLengthCache:
    """Rooms of every layer, made once; ``update`` gives back the filled part."""

    def __init__(self, num_layers, max_batch_size, max_cache_len, num_heads, head_dim, dtype=np.float32):
        shape = (num_layers, max_batch_size, num_heads, max_cache_len, head_dim)
        self.key_cache, self.value_cache = np.zeros(shape, dtype), np.zeros(shape, dtype)
        self.seen = [0] * num_layers

    def update(self, layer_idx, key_states, value_states):
        start, room = self.seen[layer_idx], self.key_cache.shape[3]
        new = min(key_states.shape[2], room - start)
        end = start + new
        self.key_cache[layer_idx][:, :, start:end] = key_states[:, :, :new]
        self.value_cache[layer_idx][:, :, start:end] = value_states[:, :, :new]
        self.seen[layer_idx] = end
        return self.key_cache[layer_idx][:, :, :end], self.value_cache[layer_idx][:, :, :end]


class StackOfAttention:
    def __init__(self, vocab_size=33, d_model=24, num_heads=3, num_layers=2, seed=0):
        rng = np.random.default_rng(seed)
        self.num_heads, self.num_layers = num_heads, num_layers
        self.embedding = rng.normal(size=(vocab_size, d_model))
        self.projections = rng.normal(size=(num_layers, 4, d_model, d_model)) / d_model**0.5

    def new_cache(self, batch_size, max_length):
        d = self.embedding.shape[1] // self.num_heads
        return FixedLengthCache(self.num_layers, batch_size, max_length, self.num_heads, d, np.float64)

    def forward(self, input_ids, cache):
        """Logits (B, T, V) of tokens that follow those in the cache."""
        x = self.embedding[input_ids]
        b, t, e = x.shape
        for layer_idx, (wq, wk, wv, wo) in enumerate(self.projections):
            n = x / np.linalg.norm(x, axis=-1, keepdims=True)
            q, k, v = ((n @ w).reshape(b, t, self.num_heads, -1).transpose(0, 2, 1, 3) for w in (wq, wk, wv))
            k, v = cache.update(layer_idx, k, v)
            s = q @ k.swapaxes(-1, -2) * (e // self.num_heads) ** -0.5
            s[..., np.triu(np.ones((t, k.shape[2]), bool), k.shape[2] - t + 1)] = -np.inf
            p = np.exp(s - s.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            x = x + (p @ v).transpose(0, 2, 1, 3).reshape(b, t, e) @ wo
        return x @ self.embedding.T
