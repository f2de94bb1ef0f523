# bug: what comes back as the cache is the keys and values of the new tokens; generate() hands it straight on
# caught by: incremental_equals_full
import numpy as np


class TinyDecoder:
    def __init__(self, vocab_size, d_model, seed=0):
        rng = np.random.default_rng(seed)
        self.table = rng.standard_normal((vocab_size, d_model)) * 0.4
        self.q, self.k, self.v = rng.standard_normal((3, d_model, d_model)) * 0.4

    def forward(self, ids, cache=None):
        x = self.table[ids]
        new_k, new_v = x @ self.k, x @ self.v
        k, v = (
            (new_k, new_v)
            if cache is None
            else [np.concatenate(both, 1) for both in zip(cache, (new_k, new_v))]
        )
        scores = x @ self.q @ k.swapaxes(1, 2) / np.sqrt(k.shape[-1])
        t, s = scores.shape[1:]
        scores = np.where(np.tri(t, s, s - t, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return (x + p / p.sum(-1, keepdims=True) @ v) @ self.table.T, (new_k, new_v)


def generate(model, prompt, steps):
    ids = np.asarray(prompt)[None]
    logits, cache = model.forward(ids)
    for _ in range(steps):
        ids = logits[:, -1].argmax(-1)[:, None]
        logits, cache = model.forward(ids, cache)
        yield int(ids[0, 0])
