# NumPy types say the width; a tuple of names is returned; context from bytes per token that are handed in.
# only: memory_model
from typing import NamedTuple

import numpy as np


class Footprint(NamedTuple):
    kv_bytes: int
    kv_gb: float


def compute_memory(n_layers, n_kv_heads, head_size, n_tokens, dtype=np.float16):
    total = 2 * n_layers * n_kv_heads * head_size * n_tokens * np.dtype(dtype).itemsize
    return Footprint(total, total / 1e9)


def max_tokens_for_gpu(vram_gib, weights_gib, bytes_per_token):
    return (vram_gib - weights_gib) * 2**30 / bytes_per_token
