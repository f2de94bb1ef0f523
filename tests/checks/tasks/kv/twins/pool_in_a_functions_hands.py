# style: pages of a pool that one function takes, writes and attends over, request by request; nothing else feeds them
# only: incremental_equals_full, variable_lengths, capacity, isolation, cache_size_minimality
import numpy as np


class PagePool:
    def __init__(self, num_pages, page_size, num_heads, head_dim):
        self.page_size = page_size
        self.pages = np.zeros((num_pages, 2, num_heads, page_size, head_dim), np.float32)
        self.spare = list(range(num_pages))
        self.owned, self.seen = {}, {}

    def add_sequence(self, seq_id):
        self.owned[seq_id], self.seen[seq_id] = [], 0

    def free_sequence(self, seq_id):
        self.spare.extend(self.owned.pop(seq_id))
        self.seen.pop(seq_id)


def cached_attention(pool, seq_id, q, k, v):
    """q, k and v (heads, width) of the next token of a sequence."""
    mine, count = pool.owned[seq_id], pool.seen[seq_id]
    if count == len(mine) * pool.page_size:
        if not pool.spare:
            raise MemoryError("every page is taken")
        mine.append(pool.spare.pop(0))
    pool.pages[mine[-1], 0, :, count % pool.page_size] = k
    pool.pages[mine[-1], 1, :, count % pool.page_size] = v
    pool.seen[seq_id] = count = count + 1
    held = np.moveaxis(pool.pages[mine], 0, 2)
    keys, values = held.reshape(*held.shape[:2], -1, held.shape[-1])[:, :, :count]
    s = np.einsum("hd,hnd->hn", q, keys) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hn,hnd->hd", p / p.sum(-1, keepdims=True), values)
