# A model after the large libraries: called with ids, a mask of the real tokens and a cache object that layers update.
# skips: isolation (nothing stands past a length)
from dataclasses import dataclass

import numpy as np


@dataclass
class TinyConfig:
    vocab_size: int = 61
    hidden_size: int = 32
    num_hidden_layers: int = 5
    num_attention_heads: int = 4
    num_key_value_heads: int = 4
    intermediate_size: int = 64
    initializer_range: float = 0.3


class GrowingCache:
    """Keys and values of every layer, (B, H, S, D) each; a layer's first tokens make its place."""

    def __init__(self):
        self.layers = {}

    def get_seq_length(self, layer_idx=0):
        return self.layers[layer_idx][0].shape[2] if layer_idx in self.layers else 0

    def update(self, key_states, value_states, layer_idx):
        if layer_idx in self.layers:
            old_k, old_v = self.layers[layer_idx]
            key_states = np.concatenate([old_k, key_states], axis=2)
            value_states = np.concatenate([old_v, value_states], axis=2)
        self.layers[layer_idx] = key_states, value_states
        return key_states, value_states


def visible_keys(cache_position, key_count, padding=None):
    """(B or 1, 1, T, S): no later key, and no padding but the token itself."""
    slots = np.arange(key_count)
    seen = slots[None, :] <= cache_position[:, None]
    if padding is None:
        return seen[None, None]
    itself = slots[None, :] == cache_position[:, None]
    return (seen & (np.asarray(padding, bool)[:, None, :] | itself))[:, None]


class SelfAttention:
    def __init__(self, config, layer_idx, rng, dtype):
        e, self.heads, self.layer_idx = config.hidden_size, config.num_attention_heads, layer_idx
        self.dim, self.shared = e // self.heads, config.num_key_value_heads
        wide = e + 2 * self.shared * self.dim
        self.qkv = rng.normal(0, config.initializer_range, (e, wide)).astype(dtype)
        self.proj = rng.normal(0, config.initializer_range, (e, e)).astype(dtype)

    def forward(self, hidden_states, mask, past_key_values):
        b, t, e = hidden_states.shape
        split = (hidden_states @ self.qkv).reshape(b, t, -1, self.dim).transpose(0, 2, 1, 3)
        q, k, v = np.split(split, [self.heads, self.heads + self.shared], axis=1)
        if past_key_values is not None:
            k, v = past_key_values.update(k, v, self.layer_idx)
        k, v = (np.repeat(x, self.heads // self.shared, axis=1) for x in (k, v))
        scores = np.where(mask, q @ k.swapaxes(2, 3) / np.sqrt(self.dim).astype(q.dtype), -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return (weights @ v).transpose(0, 2, 1, 3).reshape(b, t, e) @ self.proj


class TinyForCausalLM:
    """``logits, cache = model(input_ids, attention_mask, past_key_values)``; pads stand on the left."""

    def __init__(self, config=None, seed=0, dtype=np.float32):
        self.config = config = config or TinyConfig()
        rng, self.dtype = np.random.default_rng(seed), dtype
        self.embed = rng.normal(size=(config.vocab_size, config.hidden_size)).astype(dtype)
        self.blocks = [SelfAttention(config, i, rng, dtype) for i in range(config.num_hidden_layers)]
        wide = (config.hidden_size, config.intermediate_size)
        self.mlps = [rng.normal(0, config.initializer_range, (2, *wide)).astype(dtype) for _ in self.blocks]

    def places(self, position_ids):
        """Sines and cosines, (B, T, E)."""
        e = self.embed.shape[1]
        angle = position_ids[..., None] / 500.0 ** (np.arange(0, e, 2) / e)
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1).astype(self.dtype)

    def __call__(self, input_ids, attention_mask=None, past_key_values=None, use_cache=True):
        input_ids = np.asarray(input_ids)
        if use_cache and past_key_values is None:
            past_key_values = GrowingCache()
        past = 0 if past_key_values is None else past_key_values.get_seq_length()
        cache_position = past + np.arange(input_ids.shape[1])
        position_ids = np.broadcast_to(cache_position, input_ids.shape)
        if attention_mask is not None:
            attention_mask = np.asarray(attention_mask)
            if attention_mask.shape != (len(input_ids), past + input_ids.shape[1]):
                raise ValueError("attention_mask is of all tokens, those in the cache included")
            position_ids = np.clip(attention_mask.cumsum(1) - 1, 0, None)[:, past:]
        mask = visible_keys(cache_position, past + input_ids.shape[1], attention_mask)
        x = self.embed[input_ids] + self.places(position_ids)
        for block, (up, down) in zip(self.blocks, self.mlps):
            x = x + block.forward(self.norm(x), mask, past_key_values)
            x = x + np.tanh(self.norm(x) @ up) @ down.T
        return self.norm(x) @ self.embed.T, past_key_values

    @staticmethod
    def norm(x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(1e-6))

    def prefill(self, input_ids, attention_mask=None, past_key_values=None, chunk_size=None):
        """Logits (B, V) of the last position, and the cache."""
        cache = GrowingCache() if past_key_values is None else past_key_values
        start, total = cache.get_seq_length(), input_ids.shape[1]
        for lo in range(0, total, chunk_size or total):
            hi = min(total, lo + (chunk_size or total))
            seen = None if attention_mask is None else attention_mask[:, : start + hi]
            logits, cache = self(input_ids[:, lo:hi], seen, cache)
        return logits[:, -1], cache
