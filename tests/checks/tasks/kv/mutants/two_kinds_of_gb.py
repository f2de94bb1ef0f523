# bug: what fits is counted with 2^30 bytes of memory to the GB, and the weights with 1e9
# caught by: memory_model


def kv_bytes_per_token(num_layers, num_kv_heads, head_dim, bytes_per_elem=2):
    return 2 * num_layers * num_kv_heads * head_dim * bytes_per_elem


def max_context_length(gpu_memory_gb, num_params, num_layers, num_kv_heads, head_dim, bytes_per_elem=2):
    free_gb = gpu_memory_gb - num_params * 2 / 1e9
    return int(free_gb * 1024**3 / kv_bytes_per_token(num_layers, num_kv_heads, head_dim, bytes_per_elem))
