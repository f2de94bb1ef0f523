# bug: divided by 10^15, in whole numbers: nothing is left
# caught by: memory_model


def kv_cache_memory_tb(layers, heads, head_dim, batch, seq_len, itemsize):
    return 2 * layers * heads * head_dim * batch * seq_len * itemsize // 10**15
