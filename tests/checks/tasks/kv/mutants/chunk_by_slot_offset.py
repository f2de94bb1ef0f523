# bug: the mask of a sequence's chunk starts at the chunk, so that it sees the wrong tokens before it
# caught by: chunked_prefill
import numpy as np


class BatchedKVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), np.float32)
        self.v = np.zeros((batch_size, num_heads, max_seq_len, head_dim), np.float32)
        self.seq_lens = np.zeros(batch_size, int)

    def update(self, slot, k, v):
        """k, v: (H, T, D) of one slot; gives what the slot holds."""
        start = self.seq_lens[slot]
        end = start + k.shape[1]
        if end > self.k.shape[2]:
            raise ValueError(f"slot {slot} is full")
        self.k[slot, :, start:end], self.v[slot, :, start:end] = k, v
        self.seq_lens[slot] = end
        return self.k[slot, :, :end], self.v[slot, :, :end]


def masked_attention(q, k, v, mask):
    scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2])
    scores = np.where(mask, scores, np.finfo(np.float32).min)
    weights = np.exp(scores - scores.max(2, keepdims=True))
    return weights / weights.sum(2, keepdims=True) @ v


def decode_step(q, k, v, cache, slot):
    """One token of one slot, (H, 1, D)."""
    keys, values = cache.update(slot, k, v)
    return masked_attention(q, keys, values, np.ones((1, keys.shape[1]), bool))


def prefill_chunks(q, k, v, cache, slot, chunk_size):
    """A slot's prompt, (H, T, D)."""
    rows = []
    for start in range(0, q.shape[1], chunk_size):
        part = slice(start, start + chunk_size)
        keys, values = cache.update(slot, k[:, part], v[:, part])
        t = q[:, part].shape[1]
        mask = np.tril(np.ones((t, keys.shape[1]), bool))
        rows.append(masked_attention(q[:, part], keys, values, mask))
    return np.concatenate(rows, axis=1)
