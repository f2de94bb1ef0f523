# style: a batch of prompts comes as a list of arrays, each of its own length, and so do their answers
# only: incremental_equals_full, variable_lengths, chunked_prefill
# passes: variable_lengths, chunked_prefill
import numpy as np


def normed(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)


class Store:
    """Keys and values of all layers, (layers, B, S, H, D) each, and the tokens of every row."""

    def __init__(self, layers, batch, room, heads, width):
        self.k = np.zeros((layers, batch, room, heads, width), np.float32)
        self.v = np.zeros_like(self.k)
        self.lengths = np.zeros(batch, int)


class TinyLanguageModel:
    """A decoder whose prompts may have any lengths."""

    def __init__(self, vocab_size=64, d_model=32, num_heads=4, num_layers=2, max_seq_len=128, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.room = num_heads, max_seq_len
        self.words = rng.standard_normal((vocab_size, d_model)).astype(np.float32)
        self.places = rng.standard_normal((max_seq_len, d_model)).astype(np.float32)
        size = (num_layers, 4, d_model, d_model)
        self.weights = (rng.standard_normal(size) / np.sqrt(d_model)).astype(np.float32)

    def init_cache(self, batch_size):
        width = self.words.shape[1] // self.heads
        return Store(len(self.weights), batch_size, self.room, self.heads, width)

    def prefill(self, prompts, cache, chunk_size=None):
        """Logits (T_b, vocab) of every prompt, in a list; goes on behind what the cache holds."""
        answers = []
        for b, prompt in enumerate(prompts):
            size = chunk_size or max(len(prompt), 1)
            parts = [self._one(b, prompt[at : at + size], cache) for at in range(0, len(prompt), size)]
            answers.append(np.concatenate(parts))
        return answers

    def decode_step(self, tokens, cache):
        """The next token of every row, (B,) -> (B, vocab)."""
        return np.stack([self._one(b, [token], cache)[0] for b, token in enumerate(tokens)])

    def _one(self, b, ids, cache):
        start, count = cache.lengths[b], len(ids)
        if start + count > self.room:
            raise OverflowError(f"row {b} holds {start} of {self.room} tokens, {count} more do not fit")
        here, held = slice(start, start + count), slice(start + count)
        x = self.words[np.asarray(ids)] + self.places[here]
        seen = np.tri(count, start + count, start, dtype=bool)
        for layer, (wq, wk, wv, wo) in enumerate(self.weights):
            q, k, v = ((normed(x) @ w).reshape(count, self.heads, -1) for w in (wq, wk, wv))
            cache.k[layer, b, here], cache.v[layer, b, here] = k, v
            scores = np.einsum("nhd,mhd->hnm", q, cache.k[layer, b, held]) / np.float32(np.sqrt(q.shape[-1]))
            p = np.exp(np.where(seen, scores, -np.inf) - scores.max(-1, keepdims=True))
            mixed = np.einsum("hnm,mhd->nhd", p / p.sum(-1, keepdims=True), cache.v[layer, b, held])
            x = x + mixed.reshape(count, -1) @ wo
        cache.lengths[b] += count
        return normed(x) @ self.words.T
