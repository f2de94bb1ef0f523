# bug: a model with grouped heads is charged for all its query heads
# caught by: memory_model
from dataclasses import dataclass


@dataclass
class ModelConfig:
    n_layers: int
    n_heads: int
    n_kv_heads: int
    head_dim: int


class MemoryEstimator:
    def __init__(self, config: ModelConfig, bytes_per_element: int = 2):
        self.config, self.size = config, bytes_per_element

    def cache_size_gb(self, batch_size, context_len):
        c = self.config
        per_token = 2 * c.n_layers * c.n_heads * c.head_dim * self.size
        return batch_size * context_len * per_token / 1024**3
