"""The smallest target model that can be verified against."""
import numpy as np


class TargetModel:
    def __init__(self, vocab_size=31, width=10, seed=5):
        rng = np.random.default_rng(seed)
        self.embed = rng.standard_normal((vocab_size, width))
        self.unembed = rng.standard_normal((width, vocab_size))

    def logits(self, tokens, mask):
        x = self.embed[tokens]
        att = np.where(mask, x @ x.T, -1e30)
        att = np.exp(att - att.max(axis=-1, keepdims=True))
        att /= att.sum(axis=-1, keepdims=True)
        return att @ x @ self.unembed
