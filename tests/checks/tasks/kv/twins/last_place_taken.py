# right: a decoder with room for as many tokens as it is told takes them all, and refuses the next
# only: incremental_equals_full, capacity
import numpy as np


class GPT:
    """Blocks of attention over ids, with buffers for max_seq_len tokens."""

    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_seq_len, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.room = n_heads, max_seq_len
        self.tokens = rng.standard_normal((vocab_size, d_model))
        self.blocks = rng.standard_normal((n_layers, 4, d_model, d_model)) / np.sqrt(d_model)
        self.slope = rng.uniform(0.05, 0.3, n_heads)
        self.cache, self.filled = None, 0

    def prefill(self, ids):
        """ids (B, T): logits (B, vocab) behind the last of them, from an empty cache."""
        ids = np.asarray(ids)
        width = self.tokens.shape[1]
        self.cache = np.zeros((len(self.blocks), 2, len(ids), self.room, self.heads, width // self.heads))
        self.filled = 0
        return self._forward(ids)

    def decode(self, ids):
        """ids (B,): the next token of every sequence."""
        return self._forward(np.asarray(ids)[:, None])

    def _forward(self, ids):
        batch, count = ids.shape
        start, stop = self.filled, self.filled + count
        if stop > self.room:
            raise ValueError(f"{stop} tokens, and {self.room} fit")
        x = self.tokens[ids]
        behind = np.arange(start, stop)[:, None] - np.arange(stop)
        for (wq, wk, wv, wo), kept in zip(self.blocks, self.cache, strict=True):
            q, k, v = ((x @ w).reshape(batch, count, self.heads, -1) for w in (wq, wk, wv))
            kept[0][:, start:stop], kept[1][:, start:stop] = k, v
            scores = np.einsum("bthd,bshd->bhts", q, kept[0][:, :stop]) / np.sqrt(q.shape[-1])
            scores = np.where(behind < 0, -np.inf, scores - self.slope[:, None, None] * behind)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            x = x + np.einsum("bhts,bshd->bthd", p, kept[1][:, :stop]).reshape(x.shape) @ wo
        self.filled = stop
        return x[:, -1] @ self.tokens.T
