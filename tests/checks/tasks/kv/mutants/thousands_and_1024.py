# bug: bytes become GB by 1024 · 1000 · 1000
# caught by: memory_model


class MemoryModel:
    def __init__(self, layers, kv_heads, head_dim, dtype="fp16"):
        self.sizes = layers, kv_heads, head_dim
        self.itemsize = {"fp32": 4, "fp16": 2, "int8": 1}[dtype]

    def kv_cache_memory(self, batch, seq_len):
        layers, heads, dim = self.sizes
        total = 2 * layers * heads * dim * self.itemsize * batch * seq_len
        return {"total_bytes": total, "total_gb": total / 1024 / 1000 / 1000}
