# bug: of one tensor that holds all layers, attention reads what the first has stored
# only: cache_size_minimality, incremental_equals_full
# caught by: cache_size_minimality
# passes: incremental_equals_full (prompts read it so as well)
import numpy as np


class Model:
    def __init__(self, vocab_size, hidden_size, num_heads, num_layers, max_len, seed=1):
        rng = np.random.default_rng(seed)
        self.h, self.d = num_heads, hidden_size // num_heads
        self.table = rng.normal(size=(vocab_size, hidden_size))
        self.where = rng.normal(size=(max_len, hidden_size))
        self.wq, self.wk, self.wv, self.wo = rng.normal(
            scale=hidden_size**-0.5, size=(4, num_layers, hidden_size, hidden_size)
        )

    def init_cache(self, batch_size):
        room = len(self.where)
        return {"kv": np.zeros((len(self.wq), 2, batch_size, self.h, room, self.d)), "length": 0}

    def prefill(self, tokens, cache):
        return self.forward(tokens, cache)

    def decode(self, token, cache):
        return self.forward(np.reshape(token, (-1, 1)), cache)

    def forward(self, tokens, cache):
        b, t = np.shape(tokens)
        begin, end = cache["length"], cache["length"] + t
        x = self.table[tokens] + self.where[begin:end]
        for i in range(len(self.wq)):
            q, k, v = ((x @ w[i]).reshape(b, t, self.h, self.d).swapaxes(1, 2) for w in (self.wq, self.wk, self.wv))
            cache["kv"][i, 0, :, :, begin:end] = k
            cache["kv"][i, 1, :, :, begin:end] = v
            keys, values = cache["kv"][0, :, :, :, :end]
            s = np.einsum("bhtd,bhsd->bhts", q, keys) / np.sqrt(self.d)
            s[..., np.arange(end) > np.arange(begin, end)[:, None]] = -np.inf
            s = np.exp(s - s.max(-1, keepdims=True))
            y = np.einsum("bhts,bhsd->bthd", s / s.sum(-1, keepdims=True), values)
            x = x + np.tanh(y.reshape(b, t, -1) @ self.wo[i])
        cache["length"] = end
        return (x @ self.table.T)[:, -1]
