# bug: of what a layer has kept it takes the newest four, and nothing says that it should
# only: incremental_equals_full, growth
# caught by: incremental_equals_full (warn)
# passes: growth
import numpy as np


class PlainModel:
    def __init__(self, vocab_size, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.heads = n_heads
        self.table = rng.normal(size=(vocab_size, d_model))
        self.layers = rng.normal(size=(1, 4, d_model, d_model)) / np.sqrt(d_model)
        self.speeds = np.geomspace(1.0, 0.01, d_model)
        self.begin()

    def begin(self):
        self.kept, self.at = [None] * len(self.layers), 0

    def prefill(self, input_ids):
        self.begin()
        for column in np.asarray(input_ids).T:
            out = self.decode(column)
        return out

    def decode(self, input_ids):
        x = self.table[np.asarray(input_ids)] + np.cos(self.at * self.speeds)
        for i, (wq, wk, wv, wo) in enumerate(self.layers):
            q, k, v = ((x @ w).reshape(len(x), self.heads, 1, -1) for w in (wq, wk, wv))
            pair = np.stack([k, v])
            if self.kept[i] is not None:
                pair = np.concatenate([self.kept[i], pair], axis=3)
            self.kept[i] = pair = pair[..., -4:, :]
            s = (q @ pair[0].swapaxes(-1, -2)) / np.sqrt(q.shape[-1])
            p = np.exp(s - s.max(-1, keepdims=True))
            x = x + (p / p.sum(-1, keepdims=True) @ pair[1]).reshape(x.shape) @ wo
        self.at += 1
        return x @ self.table.T
