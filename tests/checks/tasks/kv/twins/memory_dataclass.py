# A dataclass with properties: bytes per token and layer, and per token; rounded MiB.
# only: memory_model
from dataclasses import dataclass


@dataclass
class LlamaShape:
    d_model: int = 4096
    n_layers: int = 32
    n_heads: int = 32
    n_kv_heads: int = 8
    bits: int = 16

    @property
    def kv_bytes_per_token_per_layer(self):
        return 2 * self.n_kv_heads * (self.d_model // self.n_heads) * self.bits // 8

    @property
    def kv_bytes_per_token(self):
        return self.n_layers * self.kv_bytes_per_token_per_layer

    def cache_mib(self, tokens):
        return round(self.kv_bytes_per_token * tokens / 2**20, 2)
