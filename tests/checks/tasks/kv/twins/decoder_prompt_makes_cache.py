# style: a prompt gives logits and a cache, of which nothing was made before; a step takes the next id and the cache
# only: incremental_equals_full, growth
import numpy as np


class ToyTransformer:
    def __init__(self, vocab_size=40, embed_dim=32, num_heads=4, num_layers=2, max_seq_len=64, seed=0):
        rng = np.random.default_rng(seed)
        self.num_heads, self.emb = num_heads, rng.normal(size=(vocab_size, embed_dim))
        self.pos = rng.normal(size=(max_seq_len, embed_dim))
        self.layers = rng.normal(size=(num_layers, 4, embed_dim, embed_dim)) / np.sqrt(embed_dim)

    def prefill(self, ids):
        ids = np.asarray(ids)
        empty = np.zeros((len(ids), 0, self.num_heads, self.emb.shape[1] // self.num_heads))
        return self._run(ids, [(empty, empty)] * len(self.layers))

    def decode_step(self, next_ids, cache):
        logits, cache = self._run(np.reshape(next_ids, (-1, 1)), cache)
        return logits[:, -1], cache

    def _run(self, ids, cache):
        (batch, count), start = ids.shape, cache[0][0].shape[1]
        x = self.emb[ids] + self.pos[start : start + count]
        grown = []
        for (wq, wk, wv, wo), past in zip(self.layers, cache, strict=True):
            q, *new = ((x @ w).reshape(batch, count, self.num_heads, -1) for w in (wq, wk, wv))
            k, v = (np.concatenate(pair, axis=1) for pair in zip(past, new, strict=True))
            scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
            scores = np.where(np.tri(count, start + count, start, dtype=bool), scores, -np.inf)
            p = np.exp(scores - scores.max(axis=-1, keepdims=True))
            p /= p.sum(axis=-1, keepdims=True)
            x = x + np.einsum("bhts,bshd->bthd", p, v).reshape(batch, count, -1) @ wo
            grown.append((k, v))
        return x @ self.emb.T, grown
