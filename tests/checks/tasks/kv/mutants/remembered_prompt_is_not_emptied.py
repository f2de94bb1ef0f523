# bug: where the oldest of three remembered prompts makes room, its first row stays in front of the new one's
# caught by: incremental_equals_full
# passes: growth
import numpy as np


class RememberingDecoder:
    """Keeps the keys and values of finished prompts; a prompt that begins like one computes the rest alone."""

    def __init__(self, vocab_size=40, d_model=32, num_heads=4, num_layers=2, max_len=64, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.embed = num_heads, rng.normal(size=(vocab_size, d_model))
        self.places = rng.normal(size=(max_len, d_model))
        self.layers = rng.normal(size=(num_layers, 4, d_model, d_model)) / np.sqrt(d_model)
        self.known, self.rows = {}, None

    def prefill(self, tokens):
        """A new text: logits (V,) behind its last token."""
        tokens = tuple(int(t) for t in tokens)
        held = self._longest(tokens)
        self.rows = [[x.copy() for x in layer] for layer in held[1]] if held else [None] * len(self.layers)
        if not held and len(self.known) > 2:
            self.rows = [[x[:1].copy() for x in layer] for layer in self.known.pop(next(iter(self.known)))]
        logits = self._run(tokens[held[0] if held else 0 :])
        self.known[tokens] = [[x[: len(tokens)] for x in layer] for layer in self.rows]
        return logits[-1]

    def forward(self, tokens):
        """Logits (n, V) of a whole text, computed anew."""
        kept, self.rows = self.rows, [None] * len(self.layers)
        logits = self._run(tuple(tokens))
        self.rows = kept
        return logits

    def decode(self, token):
        """One token more: logits (V,)."""
        return self._run((token,))[-1]

    def _longest(self, tokens):
        """How many tokens of the longest known beginning are taken over, and their rows."""
        best = max(self.known, key=lambda key: self._common(key, tokens), default=())
        count = min(self._common(best, tokens), len(tokens) - 1)
        return (count, [[x[:count] for x in layer] for layer in self.known[best]]) if count > 0 else None

    def _common(self, one, other):
        same = [a == b for a, b in zip(one, other)]
        return same.index(False) if False in same else len(same)

    def _run(self, tokens):
        start = 0 if self.rows[0] is None else len(self.rows[0][0])
        x = self.embed[list(tokens)] + self.places[start : start + len(tokens)]
        for index, (wq, wk, wv, wo) in enumerate(self.layers):
            q, *new = ((x @ w).reshape(len(x), self.heads, -1) for w in (wq, wk, wv))
            past = self.rows[index] or [new[0][:0], new[1][:0]]
            k, v = self.rows[index] = [np.concatenate(pair) for pair in zip(past, new)]
            scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1])
            scores = np.where(np.tri(len(x), len(k), start, dtype=bool), scores, -np.inf)
            p = np.exp(scores - scores.max(axis=-1, keepdims=True))
            p /= p.sum(axis=-1, keepdims=True)
            x = x + np.einsum("hqk,khd->qhd", p, v).reshape(len(x), -1) @ wo
        return x @ self.embed.T
