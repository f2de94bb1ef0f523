"""A language model of one layer that speaks in turns; what it remembers of a dialogue is a notebook."""

import numpy as np


class Speaker:
    def __init__(self, words, size, luck):
        """A vocabulary of so many words, embeddings of a size, weights drawn from a seed."""
        draw = np.random.default_rng(luck)
        self.table = draw.normal(scale=0.4, size=(words, size))
        self.q, self.k, self.v, self.o = draw.normal(scale=0.4, size=(4, size, size))
        self.end = draw.normal(scale=0.4, size=(size, words))


class Dialogue:
    def __init__(self, speaker):
        """A dialogue with a speaker, nothing said yet."""
        self.speaker, self.notebook = speaker, []

    def utter(self, ids):
        """Say the words ids, a list of T numbers; the scores (T, words) of what comes after each of them."""
        return [self._one(self.speaker, self.speaker.table[one]) for one in ids]

    def _one(self, s, x):
        self.notebook.append((x @ s.k, x @ s.v))
        keys, values = (np.stack(part) for part in zip(*self.notebook, strict=True))
        marks = keys @ (x @ s.q) / np.sqrt(len(x))
        shares = np.exp(marks - marks.max())
        return (x + (shares / shares.sum()) @ values @ s.o) @ s.end
