# bug: every layer scores its queries against the keys of layer 0; its own are stored and never read
# only: cache_size_minimality, incremental_equals_full
# caught by: cache_size_minimality
# passes: incremental_equals_full (prompts read them so as well)
import numpy as np


class LayerCache:
    def __init__(self, batch, heads, room, width):
        self.keys = np.zeros((batch, heads, room, width), np.float32)
        self.values = np.zeros_like(self.keys)
        self.used = 0

    def write(self, k, v):
        now = slice(self.used, self.used + k.shape[2])
        self.keys[:, :, now], self.values[:, :, now] = k, v
        self.used = now.stop


class Transformer:
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_seq_len, batch_size=1, seed=0):
        draw = np.random.default_rng(seed).standard_normal
        self.heads = n_heads
        self.embedding = draw((vocab_size, d_model)) * 0.5
        self.places = draw((max_seq_len, d_model)) * 0.5
        self.qkv = [draw((d_model, 3 * d_model)) / np.sqrt(d_model) for _ in range(n_layers)]
        self.project = [draw((d_model, d_model)) / np.sqrt(d_model) for _ in range(n_layers)]
        self.cache = [LayerCache(batch_size, n_heads, max_seq_len, d_model // n_heads) for _ in range(n_layers)]

    def prefill(self, input_ids):
        for cache in self.cache:
            cache.used = 0
        return self._run(np.asarray(input_ids))

    def decode_step(self, token_ids):
        return self._run(np.asarray(token_ids).reshape(-1, 1))

    def _run(self, ids):
        start = self.cache[0].used
        x = self.embedding[ids] + self.places[start : start + ids.shape[1]]
        for layer, (qkv, out) in enumerate(zip(self.qkv, self.project)):
            x = x + self._attend(layer, x @ qkv, start) @ out
        return (x @ self.embedding.T)[:, -1]

    def _attend(self, layer, joined, start):
        b, t, _ = joined.shape
        q, k, v = (part.reshape(b, t, self.heads, -1).swapaxes(1, 2) for part in np.split(joined, 3, axis=-1))
        self.cache[layer].write(k, v)
        held = start + t
        scores = q @ self.cache[0].keys[:, :, :held].swapaxes(2, 3) / np.sqrt(q.shape[-1])
        scores = np.where(np.tri(t, held, start, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return (p @ self.cache[layer].values[:, :, :held]).swapaxes(1, 2).reshape(b, t, -1)
