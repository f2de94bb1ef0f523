# style: a decoder of one sequence: a prompt is a list of ids, a step takes one id; chunks through the same call
# skips: variable_lengths, cache_size_minimality, capacity, gqa, paged, quantized, memory_model, purity
import numpy as np


class SoloDecoder:
    def __init__(self, vocab_size=48, hidden_dim=32, n_heads=4, n_layers=2, max_seq_len=64, seed=1):
        draw = np.random.default_rng(seed).standard_normal
        self.n_heads, self.head_dim, self.max_seq_len = n_heads, hidden_dim // n_heads, max_seq_len
        self.table, self.places = draw((vocab_size, hidden_dim)), draw((max_seq_len, hidden_dim))
        self.mix = draw((n_layers, 4, hidden_dim, hidden_dim)) / hidden_dim
        self.past = np.zeros((n_layers, 2, max_seq_len, n_heads, self.head_dim))
        self.seen = 0

    def _extend(self, ids):
        """Logits of the last of some more ids."""
        start, end = self.seen, self.seen + len(ids)
        if end > self.max_seq_len:
            raise ValueError("the sequence is too long")
        hidden = self.table[np.asarray(ids)] + self.places[start:end]
        visible = np.arange(end)[None] <= np.arange(start, end)[:, None]
        for past, (wq, wk, wv, wo) in zip(self.past, self.mix, strict=True):
            q, k, v = ((hidden @ w).reshape(len(ids), self.n_heads, self.head_dim) for w in (wq, wk, wv))
            past[0, start:end], past[1, start:end] = k, v
            scores = np.einsum("thd,shd->hts", q, past[0, :end]) / np.sqrt(self.head_dim)
            weights = np.exp(np.where(visible, scores, -np.inf))
            mixed = np.einsum("hts,shd->thd", weights / weights.sum(-1, keepdims=True), past[1, :end])
            hidden = hidden + mixed.reshape(len(ids), -1) @ wo
        self.seen = end
        return hidden[-1] @ self.table.T

    def prefill(self, prompt_ids: list[int]):
        self.seen = 0
        return self._extend(prompt_ids)

    def chunked_prefill(self, prompt_ids: list[int], chunk_size: int):
        self.seen = 0
        for at in range(0, len(prompt_ids), chunk_size):
            logits = self._extend(prompt_ids[at : at + chunk_size])
        return logits

    def decode(self, token_id: int):
        return self._extend([token_id])
