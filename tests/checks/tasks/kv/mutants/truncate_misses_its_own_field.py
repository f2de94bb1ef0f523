# bug: tokens are never taken back: truncate() counts in a field that no cache has
# caught by: sharing
# passes: incremental_equals_full
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.cur_len = 0

    def append(self, k, v):
        """Append (B, H, T, D)."""
        end = self.cur_len + k.shape[2]
        if end > self.k.shape[2]:
            raise ValueError(f"{end} tokens do not fit")
        self.k[:, :, self.cur_len : end], self.v[:, :, self.cur_len : end] = k, v
        self.cur_len = end

    def truncate(self, new_len):
        """Keep the first new_len tokens, after a draft that was not accepted."""
        if new_len > self.current_len:
            raise ValueError(f"only {self.current_len} tokens are there")
        self.cur_len = new_len

    def attend(self, q):
        """Attention of the newest tokens' queries, (B, H, T, D)."""
        k, v = self.k[:, :, : self.cur_len], self.v[:, :, : self.cur_len]
        first = self.cur_len - q.shape[2]
        seen = np.arange(self.cur_len) <= first + np.arange(q.shape[2])[:, None]
        s = np.where(seen, q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]), -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        return p / p.sum(axis=-1, keepdims=True) @ v
