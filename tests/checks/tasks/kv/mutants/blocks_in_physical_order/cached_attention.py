# bug: which blocks a sequence has is kept, and not in which order it came to them
# caught by: paged
# passes: incremental_equals_full, variable_lengths, gqa, isolation, memory_model
"""Attention over a PagedKVCache, and the memory calculator."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

import numpy as np

from paged_kv import PagedKVCache


def _attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """q (H, T, D) at the end of k, v (KVH, S, D); causal."""
    group = q.shape[0] // k.shape[0]
    k, v = np.repeat(k, group, axis=0), np.repeat(v, group, axis=0)
    scores = np.einsum("htd,hsd->hts", q, k) * q.dtype.type(1.0 / np.sqrt(q.shape[-1]))
    t, s = scores.shape[1:]
    mask = np.arange(s)[None, :] > np.arange(s - t, s)[:, None]
    scores[:, mask] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("hts,hsd->htd", weights, v)


def prefill(cache: PagedKVCache, seq: int, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Append a prompt, or a chunk of one, and attend.  q (L, H, T, D); k, v (L, KVH, T, D) -> (L, H, T, D)."""
    cache.append(seq, k, v)
    return np.stack([_attention(q[layer], *cache.gather(seq, layer)) for layer in range(len(q))])


def decode_step(cache: PagedKVCache, seqs: Sequence[int], q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """One token for each of several sequences.  q (B, L, H, D); k, v (B, L, KVH, D) -> (B, L, H, D)."""
    out = np.empty_like(q)
    for i, seq in enumerate(seqs):
        out[i] = prefill(cache, seq, q[i][:, :, None], k[i][:, :, None], v[i][:, :, None])[:, :, 0]
    return out


@dataclass(frozen=True)
class ModelShape:
    num_layers: int
    num_kv_heads: int
    head_dim: int
    bytes_per_value: int = 2

    def bytes_per_token(self) -> int:
        return 2 * self.num_layers * self.num_kv_heads * self.head_dim * self.bytes_per_value

    def max_context(self, gpu_bytes: int, weight_bytes: int = 0, batch_size: int = 1) -> int:
        return max(0, (gpu_bytes - weight_bytes) // (self.bytes_per_token() * batch_size))
