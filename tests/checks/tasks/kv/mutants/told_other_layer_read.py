# bug: the table of the first layer is looked up, whichever layer is asked for
# caught by: paged
import numpy as np


def new_pools(n_blocks, block_size, n_kv_heads, head_dim, dtype=np.float32):
    pool = np.zeros((n_blocks, block_size, n_kv_heads, head_dim), dtype)
    return pool, pool.copy()


def scatter(pool, layer, new_vals, block_indices, pos_in_blocks):
    """One token of each sequence, (batch, heads, head size); all layers lie in one pool."""
    out = np.array(pool)
    out[block_indices, pos_in_blocks] = new_vals
    return out


def gather(pool, layer, block_tables, context_lens, max_context_len):
    """(batch, max_context_len, heads, head size); zeros behind each sequence's tokens."""
    tables, lens = block_tables[0], context_lens[layer]
    out = np.zeros((len(tables), max_context_len, *pool.shape[2:]), pool.dtype)
    for row, (table, n) in enumerate(zip(tables, lens)):
        at = np.arange(n)
        out[row, :n] = pool[table[at // pool.shape[1]], at % pool.shape[1]]
    return out
