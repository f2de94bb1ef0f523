# style: sequences are opened first; a prompt goes into one of them, chunk by chunk
# passes: chunked_prefill
# skips: gqa, paged, quantized, memory_model, isolation (the cache holds what came in)
import numpy as np


class RequestCache:
    def __init__(self, num_heads, head_dim):
        self.num_heads, self.head_dim = num_heads, head_dim
        self.rows = {}

    def add_request(self, request_id):
        if request_id in self.rows:
            raise KeyError(f"request {request_id} is open")
        empty = np.zeros((self.num_heads, 0, self.head_dim), np.float32)
        self.rows[request_id] = (empty, empty)

    def finish_request(self, request_id):
        del self.rows[request_id]

    def append(self, request_id, k, v):
        """k, v: (H, T, D)"""
        old_k, old_v = self.rows[request_id]
        self.rows[request_id] = (np.concatenate([old_k, k], 1), np.concatenate([old_v, v], 1))

    def attend(self, request_id, q):
        k, v = self.rows[request_id]
        t, s = q.shape[1], k.shape[1]
        x = q @ k.transpose(0, 2, 1) / np.sqrt(self.head_dim)
        x = x + np.triu(np.full((t, s), -np.inf), 1 + s - t)
        x = np.exp(x - x.max(-1, keepdims=True))
        return x / x.sum(-1, keepdims=True) @ v

    def chunked_prefill(self, request_id, q, k, v, chunk_size=4):
        out = [
            self._one(request_id, q[:, i : i + chunk_size], k[:, i : i + chunk_size], v[:, i : i + chunk_size])
            for i in range(0, q.shape[1], chunk_size)
        ]
        return np.concatenate(out, axis=1)

    def _one(self, request_id, q, k, v):
        self.append(request_id, k, v)
        return self.attend(request_id, q)
