# bug: with a cache the last of all ids stands at the first place
# caught by: incremental_equals_full
import numpy as np


class LanguageModel:
    def __init__(self, vocab_size, n_embd, n_head, max_len=64, seed=0):
        rng = np.random.default_rng(seed)
        self.heads = n_head
        self.words = rng.standard_normal((vocab_size, n_embd)) * 0.3
        self.places = rng.standard_normal((max_len, n_embd)) * 0.3
        self.qkv = rng.standard_normal((n_embd, 3 * n_embd)) * n_embd**-0.5

    def forward(self, ids, kv_cache=None):
        ids = np.asarray(ids)
        if kv_cache is not None:
            ids = ids[:, -1:]
        x = self.words[ids] + self.places[np.arange(ids.shape[1])]
        b, t, e = x.shape
        q, k, v = (part.reshape(b, t, self.heads, -1).swapaxes(1, 2) for part in np.split(x @ self.qkv, 3, -1))
        if kv_cache is not None:
            k, v = (np.concatenate(both, 2) for both in zip(kv_cache, (k, v)))
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        s = k.shape[2]
        scores = np.where(np.arange(s) <= np.arange(s - t, s)[:, None], scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        x = x + (p / p.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(b, t, e)
        return x @ self.words.T, (k, v)
