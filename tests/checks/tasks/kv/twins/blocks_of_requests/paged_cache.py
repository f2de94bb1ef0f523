# style: block tables of requests, an allocator in a file of its own, attention of one query
# passes: paged, gqa
# skips: chunked_prefill, quantized, memory_model, purity
"""Paged KV cache: token slots live in fixed-size blocks, found through a block table per request.

Pools have the shape (num_blocks, block_size, num_kv_heads, head_dim).
"""

import numpy as np

from allocator import BlockAllocator


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_kv_heads, head_dim, dtype=np.float32):
        self.block_size = block_size
        self.num_kv_heads = num_kv_heads
        self.head_dim = head_dim
        self.k_pool = np.zeros((num_blocks, block_size, num_kv_heads, head_dim), dtype=dtype)
        self.v_pool = np.zeros_like(self.k_pool)
        self.allocator = BlockAllocator(num_blocks)
        self.block_tables = {}
        self.lengths = {}

    def add_request(self, request_id):
        if request_id in self.block_tables:
            raise KeyError(f"request {request_id!r} exists")
        self.block_tables[request_id] = []
        self.lengths[request_id] = 0

    def write(self, request_id, k, v):
        """Append tokens of one request; k and v are (n_tokens, num_kv_heads, head_dim)."""
        if request_id not in self.block_tables:
            raise KeyError(f"unknown request {request_id!r}")
        table = self.block_tables[request_id]
        start = self.lengths[request_id]
        n = k.shape[0]
        needed = -(-(start + n) // self.block_size) - len(table)
        if needed > self.allocator.num_free:
            raise MemoryError(f"need {needed} blocks, {self.allocator.num_free} are free")
        for _ in range(needed):
            table.append(self.allocator.allocate())
        for i in range(n):
            pos = start + i
            block = table[pos // self.block_size]
            slot = pos % self.block_size
            self.k_pool[block, slot] = k[i]
            self.v_pool[block, slot] = v[i]
        self.lengths[request_id] = start + n

    def gather(self, request_id):
        """K and V of one request, each (length, num_kv_heads, head_dim)."""
        if request_id not in self.block_tables:
            raise KeyError(f"unknown request {request_id!r}")
        length = self.lengths[request_id]
        idx = np.asarray(self.block_tables[request_id], dtype=np.int64)
        k = self.k_pool[idx].reshape(-1, self.num_kv_heads, self.head_dim)[:length]
        v = self.v_pool[idx].reshape(-1, self.num_kv_heads, self.head_dim)[:length]
        return k, v

    def free_request(self, request_id):
        if request_id not in self.block_tables:
            raise KeyError(f"unknown request {request_id!r}")
        for block in self.block_tables.pop(request_id):
            self.allocator.release(block)
        del self.lengths[request_id]

    def utilization(self):
        used = sum(self.lengths.values())
        held = sum(len(t) for t in self.block_tables.values()) * self.block_size
        return used / held if held else 0.0


def paged_attention(q, cache, request_id):
    """Decode attention of one request.

    Args:
        q: (num_heads, head_dim) query of the newest token.
        cache: PagedKVCache.
        request_id: whose keys and values to read.

    Returns:
        (num_heads, head_dim)
    """
    k, v = cache.gather(request_id)
    groups = q.shape[0] // k.shape[1]
    k = np.repeat(k, groups, axis=1)
    v = np.repeat(v, groups, axis=1)
    scores = np.einsum("hd,shd->hs", q, k) / np.sqrt(q.shape[-1])
    scores -= scores.max(axis=1, keepdims=True)
    p = np.exp(scores)
    p /= p.sum(axis=1, keepdims=True)
    return np.einsum("hs,shd->hd", p, v)


def paged_attention_batch(queries, cache, request_ids):
    """queries: (n_requests, num_heads, head_dim), one row per request."""
    return np.stack([paged_attention(q, cache, rid) for q, rid in zip(queries, request_ids)])
