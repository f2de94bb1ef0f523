# bug: the longest context is that of a model with one layer
# caught by: memory_model
from dataclasses import dataclass


@dataclass(frozen=True)
class Spec:
    num_layers: int
    num_heads: int
    head_dim: int
    num_params: float


@dataclass(frozen=True)
class GPU:
    name: str
    memory_gb: float


def find_max_context(model: Spec, gpu: GPU, dtype_bytes: int = 2, reserve: float = 0.1):
    usable = gpu.memory_gb * 1e9 * (1 - reserve) - model.num_params * 2
    return int(usable // (2 * model.num_heads * model.head_dim * dtype_bytes))
