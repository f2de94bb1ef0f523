# bug: prompt and steps agree, because neither looks at the past
# caught by: incremental_equals_full
import numpy as np


class TransformerModel:
    def __init__(self, vocab_size, hidden_size, seed=0):
        g = np.random.default_rng(seed)
        self.emb = g.normal(size=(vocab_size, hidden_size))
        self.w = g.normal(size=(hidden_size, hidden_size))
        self.cache = []

    def prefill(self, input_ids):
        self.cache = [input_ids]
        return np.tanh(self.emb[input_ids] @ self.w) @ self.emb.T

    def decode(self, token):
        self.cache.append(token)
        return np.tanh(self.emb[token] @ self.w) @ self.emb.T
