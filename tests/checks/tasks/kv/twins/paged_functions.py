# Plain functions over a dict; blocks are asked for ahead of the write.
# only: paged, variable_lengths, cache_size_minimality, growth, capacity
import numpy as np


def make_paged_cache(num_pages=16, page_size=4, n_heads=2, head_dim=8):
    shape = (num_pages, n_heads, page_size, head_dim)
    return {
        "k": np.zeros(shape, np.float32), "v": np.zeros(shape, np.float32),
        "free": set(range(num_pages)), "tables": {}, "lens": {}, "page_size": page_size,
    }


def append_kv(cache, seq_id, k_new, v_new):
    """One token: (heads, head_dim)."""
    table = cache["tables"].setdefault(seq_id, [])
    n, size = cache["lens"].get(seq_id, 0), cache["page_size"]
    if n == len(table) * size:
        if not cache["free"]:
            raise MemoryError("out of pages")
        table.append(cache["free"].pop())
    cache["k"][table[n // size], :, n % size] = k_new
    cache["v"][table[n // size], :, n % size] = v_new
    cache["lens"][seq_id] = n + 1


def get_kv(cache, seq_id):
    n, table = cache["lens"][seq_id], cache["tables"][seq_id]

    def joined(x):
        return x[table].transpose(1, 0, 2, 3).reshape(x.shape[1], -1, x.shape[3])[:, :n]

    return {"k": joined(cache["k"]), "v": joined(cache["v"])}


def free_sequence(cache, seq_id):
    cache["free"].update(cache["tables"].pop(seq_id, ()))
    cache["lens"].pop(seq_id, None)
