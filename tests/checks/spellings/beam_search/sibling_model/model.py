import numpy as np


class LanguageModel:
    def __init__(self, vocab_size=10):
        self.vocab_size = vocab_size
        rng = np.random.default_rng(1)
        self.embed, self.head = rng.standard_normal((vocab_size, 8)), rng.standard_normal((8, vocab_size))

    def forward(self, ids):
        return self.embed[np.asarray(ids)].cumsum(0) @ self.head
