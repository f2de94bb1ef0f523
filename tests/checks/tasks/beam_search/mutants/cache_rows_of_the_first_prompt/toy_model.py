"""Tiny attention model with a real key/value cache, for trying out the search."""
import numpy as np

from vectorized_beam_search import batched_beam_search


class TinyAttentionLM:
    def __init__(self, vocab=14, dim=16, capacity=256, seed=0):
        rng = np.random.default_rng(seed)
        self.dim, self.capacity = dim, capacity
        self.emb = rng.normal(size=(vocab, dim))
        self.pos = 0.3 * rng.normal(size=(capacity, dim))
        self.wq, self.wk, self.wv = rng.normal(size=(3, dim, dim)) / np.sqrt(dim)
        self.head = 1.5 * rng.normal(size=(dim, vocab)) / np.sqrt(dim)

    def decode(self, token_ids, cache):
        used = cache["used"]
        rows = np.arange(len(token_ids))
        x = self.emb[token_ids] + self.pos[used]
        keys, values = cache["k"].copy(), cache["v"].copy()
        keys[rows, used] = x @ self.wk
        values[rows, used] = x @ self.wv
        scores = np.einsum("rd,rtd->rt", x @ self.wq, keys) / np.sqrt(self.dim)
        scores = np.where(np.arange(self.capacity) <= used[:, None], scores, -np.inf)
        w = np.exp(scores - scores.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        y = x + np.einsum("rt,rtd->rd", w, values)
        return y @ self.head, {"k": keys, "v": values, "used": used + 1}

    def prefill(self, prompts):
        logits, caches = [], []
        for prompt in prompts:
            cache = {"k": np.zeros((1, self.capacity, self.dim)),
                     "v": np.zeros((1, self.capacity, self.dim)),
                     "used": np.zeros(1, dtype=np.int64)}
            for token in prompt:
                row, cache = self.decode(np.array([token]), cache)
            logits.append(row)
            caches.append(cache)
        joined = {name: np.concatenate([c[name] for c in caches]) for name in caches[0]}
        return np.concatenate(logits), joined


if __name__ == "__main__":
    seqs, scores = batched_beam_search(TinyAttentionLM(), [[1, 2, 3]], 3, 8, 0.7, 0)
    for s, v in zip(seqs[0], scores[0]):
        print(f"{v:.4f}", list(s))
