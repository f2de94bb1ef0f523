# bug: attention takes the codes of the values without their scales
# caught by: quantized
import numpy as np


class Int8KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        shape = (batch_size, num_heads, max_seq_len, head_dim)
        self.kq, self.vq = np.zeros(shape, np.int8), np.zeros(shape, np.int8)
        self.ks, self.vs = np.ones((*shape[:3], 1), np.float32), np.ones((*shape[:3], 1), np.float32)
        self.n = 0

    def append(self, k, v):
        at = slice(self.n, self.n + k.shape[2])
        for x, q, s in ((k, self.kq, self.ks), (v, self.vq, self.vs)):
            scale = np.abs(x).max(-1, keepdims=True) / 127
            s[:, :, at] = np.where(scale > 0, scale, 1)
            q[:, :, at] = np.rint(x / s[:, :, at])
        self.n = at.stop

    def get(self):
        n = self.n
        return self.kq[:, :, :n] * self.ks[:, :, :n], self.vq[:, :, :n] * self.vs[:, :, :n]

    def attend(self, q):
        k, _ = self.get()
        scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
        w = np.exp(scores - scores.max(-1, keepdims=True))
        return (w / w.sum(-1, keepdims=True)) @ self.vq[:, :, : self.n].astype(np.float32)
