# bug: the mask of several tokens counts from behind them, as the cache was updated before it was asked for its length
# caught by: incremental_equals_full
import numpy as np


class LMConfig:
    def __init__(self, vocab_size=44, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, rope_base=1e4):
        self.vocab_size, self.hidden_size, self.rope_base = vocab_size, hidden_size, rope_base
        self.num_hidden_layers, self.num_attention_heads = num_hidden_layers, num_attention_heads


class ListCache:
    def __init__(self):
        self.pairs = []

    def length(self, layer=0):
        return self.pairs[layer][0].shape[1] if layer < len(self.pairs) else 0

    def update(self, layer, k, v):
        """k, v (B, T, H, D); gives all that the layer holds."""
        if layer == len(self.pairs):
            self.pairs.append((k, v))
        else:
            self.pairs[layer] = tuple(np.concatenate(two, axis=1) for two in zip(self.pairs[layer], (k, v)))
        return self.pairs[layer]


class LanguageModel:
    def __init__(self, config=None, seed=0, dtype=np.float64):
        self.config = config = config or LMConfig()
        g, e = np.random.default_rng(seed), config.hidden_size
        self.emb = g.normal(size=(config.vocab_size, e)).astype(dtype)
        self.layers = [g.normal(0, e**-0.5, (4, e, e)).astype(dtype) for _ in range(config.num_hidden_layers)]

    def turned(self, x, positions):
        """Rotated halves, x (B, T, H, D)."""
        half = x.shape[-1] // 2
        angle = positions[:, None] * self.config.rope_base ** (-np.arange(half) / half)
        cos, sin = np.cos(angle)[:, None].astype(x.dtype), np.sin(angle)[:, None].astype(x.dtype)
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def __call__(self, input_ids, attention_mask=None, past_key_values=None, use_cache=True):
        """Logits (B, T, V) and the cache; attention_mask (B, S) is 0 where a token is a pad."""
        if use_cache and past_key_values is None:
            past_key_values = ListCache()
        b, t = input_ids.shape
        start = past_key_values.length() if past_key_values is not None else 0
        positions, x = start + np.arange(t), self.emb[input_ids]
        for i, (wq, wk, wv, wo) in enumerate(self.layers):
            n = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
            q, k, v = ((n @ w).reshape(b, t, self.config.num_attention_heads, -1) for w in (wq, wk, wv))
            q, k, past = self.turned(q, positions), self.turned(k, positions), 0
            if past_key_values is not None:
                k, v = past_key_values.update(i, k, v)
                past = past_key_values.length(i)
            causal = np.arange(k.shape[1]) <= past + np.arange(t)[:, None]
            if attention_mask is not None:
                causal = causal & (np.asarray(attention_mask)[:, None, None] > 0)
            scores = np.where(causal, np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1]), -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            x = x + np.einsum("bhts,bshd->bthd", p, v).reshape(b, t, -1) @ wo
        return x @ self.emb.T, past_key_values
