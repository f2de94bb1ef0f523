# bug: positions of a chunk behind others are taken modulo 8
# only: chunked_prefill, incremental_equals_full
# caught by: chunked_prefill
import numpy as np


class Past:
    def __init__(self, layers):
        self.held = [None] * layers
        self.tokens = 0

    def joined(self, layer, pair):
        old = self.held[layer]
        self.held[layer] = pair if old is None else np.concatenate([old, pair], axis=3)
        return self.held[layer]


class TransformerDecoder:
    def __init__(self, vocab_size, hidden_size, num_heads, num_layers, max_positions=512, seed=6):
        rng = np.random.default_rng(seed)
        self.num_heads, self.num_layers = num_heads, num_layers
        self.tokens = rng.normal(size=(vocab_size, hidden_size))
        self.places = rng.normal(size=(max_positions, hidden_size))
        self.weights = rng.normal(size=(num_layers, 4, hidden_size, hidden_size)) / np.sqrt(hidden_size)

    def prefill(self, input_ids):
        past = Past(self.num_layers)
        return self.forward(np.asarray(input_ids), past)[:, -1], past

    def decode_step(self, token_ids, past):
        token_ids = np.asarray(token_ids)
        if token_ids.ndim != 1:
            raise ValueError("one token of each sequence")
        return self.forward(token_ids[:, None], past)[:, -1], past

    def forward(self, input_ids, past):
        """Logits (batch, tokens, vocab) of the tokens behind those that the past holds."""
        batch, new = input_ids.shape
        start, end = past.tokens, past.tokens + new
        at = np.arange(start, end)
        x = self.tokens[input_ids] + self.places[at % 8 if start and new > 4 else at]
        for layer, (wq, wk, wv, wo) in enumerate(self.weights):
            q, k, v = ((x @ w).reshape(batch, new, self.num_heads, -1).swapaxes(1, 2) for w in (wq, wk, wv))
            keys, values = past.joined(layer, np.stack([k, v]))
            s = q @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
            s = np.where(np.arange(end) <= np.arange(start, end)[:, None], s, -np.inf)
            p = np.exp(s - s.max(axis=-1, keepdims=True))
            x = x + (p / p.sum(axis=-1, keepdims=True) @ values).swapaxes(1, 2).reshape(x.shape) @ wo
        past.tokens = end
        return x @ self.tokens.T
