# right: told how often each head repeats; the cache keeps few heads, one sequence at a time
# passes: gqa
# skips: isolation (nothing past a length)
import numpy as np


def expand_heads(x, times):
    return x if times == 1 else np.repeat(x, times, axis=0)


def repeated_attention(q, k, v, n_rep):
    k, v = expand_heads(k, n_rep), expand_heads(v, n_rep)
    s = np.einsum("htd,hsd->hts", q, k) / np.sqrt(q.shape[2])
    for t in range(s.shape[1]):
        s[:, t, s.shape[2] - s.shape[1] + t + 1 :] = -np.inf
    e = np.exp(s - s.max(2)[..., None])
    return np.einsum("hts,hsd->htd", e / e.sum(2)[..., None], v)


class SequenceCaches:
    def __init__(self):
        self.by_id = {}

    def step(self, seq_id, q, k, v):
        if seq_id in self.by_id:
            k, v = (np.concatenate(pair, axis=1) for pair in zip(self.by_id[seq_id], (k, v)))
        self.by_id[seq_id] = k, v
        return repeated_attention(q, k, v, len(q) // len(k))


class SequenceKVCache(SequenceCaches):
    pass
