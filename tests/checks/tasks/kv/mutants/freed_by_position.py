# bug: a sequence that goes puts the positions of its blocks on the free list, not their numbers
# caught by: paged
from collections import deque

import numpy as np


def paged_cache(num_blocks, block_size, num_heads, head_dim):
    pool = np.zeros((2, num_blocks, block_size, num_heads, head_dim), np.float32)
    return {"pool": pool, "free": deque(range(num_blocks)), "tables": {}, "lengths": {}, "size": block_size}


def append(cache, seq_id, key, value):
    """key, value: (num_heads, head_dim)"""
    table = cache["tables"].setdefault(seq_id, [])
    n = cache["lengths"].get(seq_id, 0)
    if n == len(table) * cache["size"]:
        if not cache["free"]:
            raise MemoryError("the pool is full")
        table.append(cache["free"].popleft())
    cache["pool"][:, table[-1], n % cache["size"]] = key, value
    cache["lengths"][seq_id] = n + 1


def read(cache, seq_id):
    blocks = cache["pool"][:, cache["tables"][seq_id]]
    k, v = blocks.reshape(2, -1, *blocks.shape[3:])[:, : cache["lengths"][seq_id]]
    return k, v


def free(cache, seq_id):
    cache["free"].extend(index for index, _block in enumerate(cache["tables"].pop(seq_id)))
    del cache["lengths"][seq_id]
