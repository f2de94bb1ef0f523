"""How judge-tui makes this submission's cache and decoder: both take a config object."""

import numpy as np
from kv_cache import CacheConfig, KVCache
from optimizations import QuantizedKVCache
from transformer import LLaMAModel, TransformerConfig


def create(batch, heads, max_len, head_dim, dtype):
    return KVCache(CacheConfig(batch, heads, head_dim, max_len, np.dtype(dtype).type))


def quantized(batch, heads, max_len, head_dim):
    return QuantizedKVCache(CacheConfig(batch, heads, head_dim, max_len))


def decoder(vocab, embed, heads, kv_heads, layers, max_len, ff, seed, dtype):
    sizes = TransformerConfig(vocab, embed, layers, heads, kv_heads, ff, max_len, dtype=np.dtype(dtype).type)
    return LLaMAModel(sizes, seed)
