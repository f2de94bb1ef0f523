# An analyzer that is made from a config and answers with a dict; memory in bytes; float16 by itself.
# only: memory_model


class Config:
    def __init__(self, num_layers, num_heads, head_dim, num_params):
        self.__dict__.update(locals())


class MemoryAnalyzer:
    WIDTH = 2

    def __init__(self, config):
        self.c = config

    def estimate_memory(self, batch_size, seq_len):
        kv = 2 * self.WIDTH * self.c.num_layers * self.c.num_heads * self.c.head_dim * batch_size * seq_len
        weights = self.c.num_params * 2
        return {"kv_cache_gib": kv / 2**30, "weights_gib": weights / 2**30, "kv_cache_bytes": kv}

    def tokens_that_fit(self, memory_bytes):
        per_token = 2 * self.WIDTH * self.c.num_layers * self.c.num_heads * self.c.head_dim
        return (memory_bytes - 2 * self.c.num_params) // per_token
