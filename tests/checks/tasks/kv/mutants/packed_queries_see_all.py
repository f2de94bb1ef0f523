# bug: of several queries that a sequence has, each sees all of its tokens
# caught by: incremental_equals_full (warn)
import numpy as np


def init_kv_pools(num_blocks, block_size, num_kv_heads, head_dim):
    flat = num_blocks * block_size, num_kv_heads, head_dim
    return np.zeros(flat, np.float32), np.zeros(flat, np.float32)


def store_kv(key, value, key_cache, value_cache, slot_mapping):
    """key, value: (tokens, kv heads, head size); slot_mapping: (tokens,)."""
    for token, slot in enumerate(slot_mapping):
        key_cache[slot], value_cache[slot] = key[token], value[token]


def block_attention(query, key_cache, value_cache, block_tables, context_lens, query_lens, block_size):
    """query: the new tokens of all sequences one behind the other, (tokens, heads, head size)."""
    out, begin = np.zeros_like(query), 0
    for table, total, new in zip(block_tables, context_lens, query_lens, strict=True):
        slots = [int(table[t // block_size]) * block_size + t % block_size for t in range(total)]
        share = query.shape[1] // key_cache.shape[1]
        keys, values = (np.repeat(pool[slots], share, axis=1) for pool in (key_cache, value_cache))
        for i in range(new):
            seen = total
            score = np.einsum("hd,thd->ht", query[begin + i], keys[:seen]) / np.sqrt(query.shape[-1])
            weight = np.exp(score - score.max(axis=1, keepdims=True))
            weight /= weight.sum(axis=1, keepdims=True)
            out[begin + i] = np.einsum("ht,thd->hd", weight, values[:seen])
        begin += new
    return out
