"""How judge-tui makes this submission's inference engine: it takes a config object."""

import numpy as np
from kv_cache import BatchedInferenceEngine, KVCacheConfig


def batch_decoder(batch, embed, heads, layers, max_len, seed, dtype):
    sizes = KVCacheConfig(layers, heads, embed // heads, batch, max_len, dtype=np.dtype(dtype).type)
    return BatchedInferenceEngine(sizes, seed)
