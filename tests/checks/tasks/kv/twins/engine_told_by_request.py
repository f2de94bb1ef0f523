# style: an engine of requests; a step takes a dict of the requests that go on and answers with one
# only: incremental_equals_full, variable_lengths, growth
import numpy as np


class Request:
    """What one request has stored: per layer keys and values, (N, heads, width)."""

    def __init__(self, layers, heads, width):
        self.keys = [np.zeros((0, heads, width), np.float32) for _ in range(layers)]
        self.values = [np.zeros((0, heads, width), np.float32) for _ in range(layers)]

    def extend(self, layer, k, v):
        self.keys[layer] = np.concatenate([self.keys[layer], k])
        self.values[layer] = np.concatenate([self.values[layer], v])
        return self.keys[layer], self.values[layer]

    def __len__(self):
        return len(self.keys[0])


class GenerationEngine:
    """A small language model that serves requests of any length side by side."""

    def __init__(self, vocab_size=40, d_model=24, n_heads=3, n_layers=2, seed=1):
        rng = np.random.default_rng(seed)
        self.heads, self.width, self.layers = n_heads, d_model // n_heads, n_layers
        self.table = rng.standard_normal((vocab_size, d_model)).astype(np.float32)
        shape = (n_layers, 4, d_model, d_model)
        self.weights = (rng.standard_normal(shape) / np.sqrt(d_model)).astype(np.float32)
        self.requests = {}

    def add_request(self, request_id):
        if request_id in self.requests:
            raise ValueError(f"request {request_id!r} is here already")
        self.requests[request_id] = Request(self.layers, self.heads, self.width)

    def finish(self, request_id):
        del self.requests[request_id]

    def prefill(self, request_id, token_ids):
        """Logits (N, vocab) of all tokens of a prompt, or of more of it."""
        request = self.requests[request_id]
        start, count = len(request), len(token_ids)
        places = np.arange(start, start + count)
        x = self.table[np.asarray(token_ids)] + self._place(places)
        unseen = np.arange(start + count) > places[:, None]
        for layer, (wq, wk, wv, wo) in enumerate(self.weights):
            flat = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
            q, k, v = ((flat @ w).reshape(count, self.heads, self.width) for w in (wq, wk, wv))
            k, v = request.extend(layer, k, v)
            scores = np.einsum("nhd,shd->hns", q, k) / np.float32(np.sqrt(self.width))
            scores[:, unseen] = -np.inf
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            x = x + np.einsum("hns,shd->nhd", p, v).reshape(count, -1) @ wo
        return x @ self.table.T

    def _place(self, places):
        half = self.table.shape[1] // 2
        angle = places[:, None] / 100 ** (np.arange(half) / half)
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)

    def decode(self, tokens):
        """One token of each request, {request: id}; answers {request: logits}."""
        missing = [name for name in tokens if name not in self.requests]
        if missing:
            raise KeyError(f"no such request: {missing}")
        return {name: self.prefill(name, [token])[-1] for name, token in tokens.items()}
