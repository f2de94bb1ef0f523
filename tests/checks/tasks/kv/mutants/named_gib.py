# bug: a figure that is named GiB is in units of 1e9 bytes
# caught by: memory_model


def cache_footprint_gib(n_layers, n_heads, d_head, seq_len, batch=1, itemsize=2):
    return 2 * n_layers * n_heads * d_head * seq_len * batch * itemsize / 1e9
