# A prompt goes into the cache in chunks and nothing comes back; one sequence, (heads, tokens, width).
# passes: chunked_prefill
# skips: isolation (nothing past a length)
import numpy as np


class HeadCache:
    def __init__(self):
        self.keys = self.values = None

    def store(self, k, v):
        if self.keys is None:
            self.keys, self.values = k.copy(), v.copy()
        else:
            self.keys = np.concatenate((self.keys, k), axis=1)
            self.values = np.concatenate((self.values, v), axis=1)

    def attend(self, q):
        logits = np.einsum("hqd,hkd->hqk", q, self.keys) / np.sqrt(q.shape[-1])
        weights = np.exp(logits - logits.max(2, keepdims=True))
        return np.einsum("hqk,hkd->hqd", weights / weights.sum(2, keepdims=True), self.values)

    def fill_chunked(self, k, v, chunk):
        for i in range(0, k.shape[1], chunk):
            self.store(k[:, i : i + chunk], v[:, i : i + chunk])
