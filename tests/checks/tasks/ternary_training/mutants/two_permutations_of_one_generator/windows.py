"""Windows of a text, of which a share is held out at random."""

import numpy as np


class Windows:
    def __init__(self, text, context, held_out, seed):
        self.letters = sorted(set(text))
        self.vocab = len(self.letters)
        ids = np.array([self.letters.index(c) for c in text])
        n = len(ids) // (context + 1)
        self.rows = ids[: n * (context + 1)].reshape(n, context + 1)
        self.cut = int(n * (1 - held_out))
        self.rng = np.random.default_rng(seed)

    def shuffled(self):
        return self.rows[self.rng.permutation(len(self.rows))]

    def training(self):
        return self.shuffled()[: self.cut]

    def validation(self):
        return self.shuffled()[self.cut :]
