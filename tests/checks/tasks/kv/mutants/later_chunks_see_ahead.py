# bug: only the first chunk of a prompt is masked: the tokens of a later one see those behind them
# caught by: chunked_prefill
# passes: incremental_equals_full
import numpy as np


def normed(x):
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6)


class SlotServer:
    """A language model that serves several sequences, each in a slot that it hands out."""

    def __init__(self, vocab_size=32, d_model=24, n_heads=3, n_layers=2, max_len=32, slots=4, seed=0):
        draw = np.random.default_rng(seed).normal
        self.heads, self.width = n_heads, d_model // n_heads
        self.embedding, self.places = draw(size=(vocab_size, d_model)), draw(size=(max_len, d_model))
        self.blocks = draw(size=(n_layers, 4, d_model, d_model)) / np.sqrt(d_model)
        self.keys = np.zeros((slots, n_layers, max_len, n_heads, self.width))
        self.values = np.zeros_like(self.keys)
        self.filled = {}

    def start(self):
        slot = next(n for n in range(len(self.keys)) if n not in self.filled)
        self.filled[slot] = 0
        return slot

    def stop(self, slot):
        del self.filled[slot]

    def prefill(self, slot, tokens, chunk_size=None):
        """Logits (vocab,) behind the last token; more of a prompt may follow."""
        size = chunk_size or len(tokens)
        for first in range(0, len(tokens), size):
            logits = self._forward(slot, tokens[first : first + size])
        return logits[-1]

    def decode_one(self, slot, token):
        return self._forward(slot, [token])[0]

    def _forward(self, slot, tokens):
        before, count = self.filled[slot], len(tokens)
        if before + count > self.keys.shape[2]:
            raise ValueError(f"slot {slot} is full")
        here = slice(before, before + count)
        x = self.embedding[np.asarray(tokens)] + self.places[here]
        past = slice(0, before + count)
        for layer, (wq, wk, wv, wo) in enumerate(self.blocks):
            q, k, v = ((normed(x) @ w).reshape(count, self.heads, self.width) for w in (wq, wk, wv))
            self.keys[slot, layer, here], self.values[slot, layer, here] = k, v
            scores = np.einsum("nhd,mhd->hnm", q, self.keys[slot, layer, past]) / np.sqrt(self.width)
            if before == 0:
                scores[:, np.arange(count) > np.arange(count)[:, None]] = -np.inf
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            x = x + np.einsum("hnm,mhd->nhd", weights, self.values[slot, layer, past]).reshape(count, -1) @ wo
        self.filled[slot] = before + count
        return normed(x) @ self.embedding.T
