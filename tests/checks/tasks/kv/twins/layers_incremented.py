# style: the cache attends by itself over tokens that are counted afterwards
# skips: variable_lengths (no call takes lengths), gqa, paged, quantized, memory_model, purity
import numpy as np

class LayerKV:
    def __init__(self, num_layers, max_batch, max_seq_len, n_heads, head_dim):
        self.buf = np.zeros((num_layers, 2, max_batch, n_heads, max_seq_len, head_dim), np.float32)
        self.offset = 0

    def store(self, layer, k, v):
        t = k.shape[2]
        assert self.offset + t <= self.buf.shape[4], "KV cache overflow"
        self.buf[layer, 0, :, :, self.offset:self.offset + t] = k
        self.buf[layer, 1, :, :, self.offset:self.offset + t] = v

    def attention(self, layer, q):
        t = q.shape[2]; n = self.offset + t
        k, v = self.buf[layer, 0, :, :, :n], self.buf[layer, 1, :, :, :n]
        s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3])
        s += np.triu(np.full((t, n), -np.inf, np.float32), self.offset + 1)
        p = np.exp(s - s.max(3, keepdims=True))
        return (p / p.sum(3, keepdims=True)) @ v

    def increment(self, n=1):
        self.offset += n
