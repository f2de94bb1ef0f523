# right: bytes of a token; as many tokens fit beside any batch, which only warns
# only: memory_model, size
# warns: memory_model
def kv_bytes_per_token(n_layers, n_kv_heads, head_dim, itemsize=2):
    """Bytes of keys and values of one token in all layers."""
    return 2 * n_layers * n_kv_heads * head_dim * itemsize


def max_context(gpu_gb, params_b, n_layers, n_kv_heads, head_dim, batch_size=1, itemsize=2):
    """Tokens of each of batch_size sequences that fit beside the weights."""
    free = gpu_gb * 1e9 - params_b * 1e9 * itemsize
    return int(free // kv_bytes_per_token(n_layers, n_kv_heads, head_dim, itemsize))
