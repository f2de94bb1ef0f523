"""What a KV cache costs."""
GiB = 1 << 30


def bytes_per_token(layers, kv_heads, head_dim, itemsize=2):
    return 2 * layers * kv_heads * head_dim * itemsize


def cache_bytes(seq_lens, page_size, layers, kv_heads, head_dim, itemsize=2):
    """Bytes of the pages that sequences of these lengths occupy when nothing is shared."""
    slots = sum(-(-n // page_size) * page_size for n in seq_lens)
    return slots * bytes_per_token(layers, kv_heads, head_dim, itemsize)


def max_tokens(free_gib, layers, kv_heads, head_dim, itemsize=2):
    return int(free_gib * GiB) // bytes_per_token(layers, kv_heads, head_dim, itemsize)
