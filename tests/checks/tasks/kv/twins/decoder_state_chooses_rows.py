# style: what a decoder keeps chooses its rows, and takes tokens back
# only: sharing, incremental_equals_full
import numpy as np


class Kept:
    """Keys and values of all layers, (rows, tokens, width) each."""

    def __init__(self, layers):
        self.layers = [None] * layers

    def extend(self, layer, k, v):
        if self.layers[layer] is not None:
            k, v = (np.concatenate(pair, axis=1) for pair in zip(self.layers[layer], (k, v)))
        self.layers[layer] = k, v
        return k, v

    def __len__(self):
        return 0 if self.layers[0] is None else self.layers[0][0].shape[1]

    def select(self, parents):
        """What is kept where each row goes on from the row named for it."""
        chosen = Kept(len(self.layers))
        chosen.layers = [(k[np.asarray(parents)], v[np.asarray(parents)]) for k, v in self.layers]
        return chosen

    def rewind(self, n):
        """The newest n tokens were not meant."""
        self.layers = [(k[:, : k.shape[1] - n], v[:, : v.shape[1] - n]) for k, v in self.layers]


class RowDecoder:
    def __init__(self, vocab=40, width=16, depth=3, seed=6):
        draw = np.random.default_rng(seed)
        self.words, self.places = draw.normal(size=(vocab, width)), draw.normal(size=(160, width))
        self.layers = draw.normal(size=(depth, 4, width, width)) / np.sqrt(width)

    def _run(self, ids, kept):
        ids, seen = np.asarray(ids), len(kept)
        n = ids.shape[1]
        x = self.words[ids] + self.places[seen : seen + n]
        hidden = np.arange(seen + n) > seen + np.arange(n)[:, None]
        for layer, (wq, wk, wv, wo) in enumerate(self.layers):
            k, v = kept.extend(layer, x @ wk, x @ wv)
            s = (x @ wq) @ k.transpose(0, 2, 1) / np.sqrt(x.shape[-1])
            p = np.exp(np.where(hidden, -np.inf, s - s.max(axis=-1, keepdims=True)))
            x = x + p / p.sum(axis=-1, keepdims=True) @ v @ wo
        return x[:, -1] @ self.words.T

    def start(self, prompts):
        """Logits behind prompts of one length, and what is kept of them."""
        kept = Kept(len(self.layers))
        return self._run(prompts, kept), kept

    def pick(self, logits):
        """The likeliest token of each row."""
        return np.argmax(logits, axis=-1)

    def step(self, tokens, kept):
        """Logits behind one token more of each row."""
        return self._run(np.asarray(tokens).reshape(-1, 1), kept)
