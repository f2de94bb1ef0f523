# bug: the calculator counts keys and forgets values
# caught by: memory_model


def kv_cache_bytes(batch_size, seq_len, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    """Bytes of a KV cache."""
    return batch_size * seq_len * num_layers * num_kv_heads * head_dim * dtype_bytes
