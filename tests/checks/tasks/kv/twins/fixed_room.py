# right: room for a hundred tokens that nobody can change; a prompt in chunks gives its last row alone
# passes: chunked_prefill
# skips: variable_lengths (takes no lengths)
import numpy as np

ROOM = 100


class RingFreeCache:
    def __init__(self, batch, heads, head_dim):
        self.keys = np.zeros((batch, heads, ROOM, head_dim), np.float32)
        self.values = np.zeros((batch, heads, ROOM, head_dim), np.float32)
        self.n = 0

    def append(self, k, v):
        if self.n + k.shape[2] > ROOM:
            raise OverflowError(f"room for {ROOM} tokens")
        self.keys[:, :, self.n : self.n + k.shape[2]] = k
        self.values[:, :, self.n : self.n + k.shape[2]] = v
        self.n += k.shape[2]

    def attend(self, q):
        k, v = self.keys[:, :, : self.n], self.values[:, :, : self.n]
        s = np.matmul(q, k.swapaxes(2, 3)) / np.sqrt(q.shape[-1])
        s = np.where(np.tri(*s.shape[2:], s.shape[3] - s.shape[2], dtype=bool), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return np.matmul(p / p.sum(-1, keepdims=True), v)

    def prefill_chunked(self, q, k, v, chunk_size=8):
        for i in range(0, q.shape[2], chunk_size):
            at = slice(i, i + chunk_size)
            self.append(k[:, :, at], v[:, :, at])
            last = self.attend(q[:, :, at])[:, :, -1]
        return last
