# bug: every layer asks how long the first layer's past is, which that layer has moved already: later layers see ahead
# caught by: incremental_equals_full, chunked_prefill
import numpy as np


class ModelConfig:
    def __init__(self, vocab_size=50, hidden_size=32, num_hidden_layers=4, num_attention_heads=4):
        self.vocab_size, self.hidden_size = vocab_size, hidden_size
        self.num_hidden_layers, self.num_attention_heads = num_hidden_layers, num_attention_heads


class RoomyCache:
    """Rooms for keys and values that double when they are full, one pair per layer."""

    def __init__(self):
        self.keys, self.values, self.filled = [], [], []

    def seen_tokens(self, layer_idx=0):
        return self.filled[layer_idx] if layer_idx < len(self.filled) else 0

    def update(self, layer_idx, key_states, value_states):
        new = key_states.shape[2]
        if layer_idx == len(self.filled):
            self.keys.append(np.empty_like(key_states))
            self.values.append(np.empty_like(value_states))
            self.filled.append(0)
        start, end = self.filled[layer_idx], self.filled[layer_idx] + new
        for rooms, fresh in ((self.keys, key_states), (self.values, value_states)):
            room = rooms[layer_idx]
            if end > room.shape[2]:
                wider = np.empty((*room.shape[:2], max(end, 2 * room.shape[2]), room.shape[3]), room.dtype)
                wider[:, :, :start] = room[:, :, :start]
                rooms[layer_idx] = room = wider
            room[:, :, start:end] = fresh
        self.filled[layer_idx] = end
        return self.keys[layer_idx][:, :, :end], self.values[layer_idx][:, :, :end]


def normed(x):
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + x.dtype.type(1e-5))


class CausalModel:
    def __init__(self, config=None, seed=0, dtype=np.float32):
        self.config = c = config or ModelConfig()
        rng = np.random.default_rng(seed)
        self.table = rng.normal(size=(c.vocab_size, c.hidden_size)).astype(dtype)
        shape = (c.num_hidden_layers, 4, c.hidden_size, c.hidden_size)
        self.weights = (rng.normal(size=shape) / np.sqrt(c.hidden_size)).astype(dtype)

    def attention(self, layer_idx, hidden, attention_mask, past_key_values):
        b, t, e = hidden.shape
        h = self.config.num_attention_heads
        wq, wk, wv, wo = self.weights[layer_idx]
        q, k, v = ((hidden @ w).reshape(b, t, h, e // h).transpose(0, 2, 1, 3) for w in (wq, wk, wv))
        past = past_key_values.seen_tokens()
        k, v = past_key_values.update(layer_idx, k, v)
        allowed = np.arange(k.shape[2]) <= past + np.arange(t)[:, None]
        if attention_mask is not None:
            allowed = allowed & attention_mask[:, None, None, : k.shape[2]].astype(bool)
        scores = np.where(allowed, q @ k.swapaxes(-1, -2) / np.sqrt(q.dtype.type(e // h)), q.dtype.type(-1e30))
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return (p @ v).transpose(0, 2, 1, 3).reshape(b, t, e) @ wo

    def __call__(self, input_ids, past_key_values=None, attention_mask=None):
        """Logits of the last position, (B, V), and the cache. Causal."""
        cache = RoomyCache() if past_key_values is None else past_key_values
        x = self.table[np.atleast_2d(input_ids)]
        for layer_idx in range(len(self.weights)):
            x = x + self.attention(layer_idx, normed(x), attention_mask, cache)
        return normed(x[:, -1]) @ self.table.T, cache

    def prefill_chunked(self, input_ids, chunk_size=8):
        cache = None
        for lo in range(0, input_ids.shape[1], chunk_size):
            logits, cache = self(input_ids[:, lo : lo + chunk_size], cache)
        return logits, cache
