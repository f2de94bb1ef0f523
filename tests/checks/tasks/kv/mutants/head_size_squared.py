# bug: the head size stands twice in the product
# caught by: memory_model


def kv_cache_bytes(num_layers, num_kv_heads, head_dim, seq_len, dtype_bytes=2):
    return 2 * num_layers * num_kv_heads * head_dim * head_dim * seq_len * dtype_bytes
