# Functions; GB of 1e9; a reserve that is a share of the memory; weights in billions of parameters.
# only: memory_model


def kv_cache_size_gb(batch, seq_len, layers, kv_heads, head_dim, bytes_per_value=2):
    return batch * seq_len * layers * kv_heads * head_dim * 2 * bytes_per_value / 1e9


def max_seq_len(gpu_gb, params_b, layers, kv_heads, head_dim, batch=1, bytes_per_value=2, utilization=0.9):
    room = gpu_gb * utilization - params_b * 2
    return max(0, int(room * 1e9 / (2 * layers * kv_heads * head_dim * bytes_per_value * batch)))
