"""
KV-Cache for autoregressive transformer inference.

During generation every new token attends to all previous tokens. Without a
cache the keys and values of the whole prefix are projected again at each step
(O(n^2) projections for n tokens). The cache stores them once, so each step
projects a single token and reads the rest back.

Memory layout (BHSD):

    cache_k, cache_v : (batch, num_heads, max_seq_len, head_dim)

    - head_dim is innermost, so one key vector is one contiguous read
    - the positions of one (batch, head) pair are contiguous, so the decode
      kernel streams a single linear range per head
    - every sequence owns a fixed slab, so appending never moves old data

Variable lengths are tracked by ``seq_lens``: slots at or past ``seq_lens[b]``
are undefined and have to be masked by the attention function.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple

import numpy as np


@dataclass(frozen=True)
class CacheConfig:
    """Shape and storage type of the cache of one layer."""

    batch_size: int
    num_heads: int          # KV heads: fewer than query heads under GQA / MQA
    head_dim: int
    max_seq_len: int
    dtype: type = np.float32

    @property
    def shape(self) -> Tuple[int, int, int, int]:
        """(batch, heads, max_seq_len, head_dim)."""
        return (self.batch_size, self.num_heads, self.max_seq_len, self.head_dim)

    @property
    def bytes_per_token(self) -> int:
        """Bytes for one token of one sequence in one layer: 2 * H * D * itemsize."""
        return 2 * self.num_heads * self.head_dim * np.dtype(self.dtype).itemsize

    @property
    def total_bytes(self) -> int:
        """Bytes that one layer allocates up front."""
        return self.batch_size * self.max_seq_len * self.bytes_per_token


class KVCache:
    """Key/value cache of a single attention layer."""

    def __init__(self, config: CacheConfig):
        self.config = config
        self.cache_k = np.zeros(config.shape, dtype=config.dtype)
        self.cache_v = np.zeros(config.shape, dtype=config.dtype)
        self.seq_lens = np.zeros(config.batch_size, dtype=np.int64)

    def _check_capacity(self, new_tokens: np.ndarray) -> None:
        """Raise before anything is written if a sequence would not fit."""
        after = self.seq_lens + new_tokens
        if np.any(after > self.config.max_seq_len):
            b = int(np.argmax(after))
            raise ValueError(
                f"KV cache overflow: sequence {b} holds {self.seq_lens[b]} tokens, "
                f"cannot append {new_tokens[b]} (max_seq_len={self.config.max_seq_len})"
            )

    def update(
        self,
        keys: np.ndarray,
        values: np.ndarray,
        active: Optional[np.ndarray] = None,
    ) -> None:
        """
        Append one decode step: one token per sequence.

        Args:
            keys:   (batch, heads, 1, head_dim)
            values: (batch, heads, 1, head_dim)
            active: (batch,) bool; sequences marked False are left untouched
        """
        if active is None:
            active = np.ones(self.config.batch_size, dtype=bool)
        active = np.asarray(active, dtype=bool)
        self._check_capacity(active.astype(np.int64))

        rows = np.flatnonzero(active)
        pos = self.seq_lens[rows]
        self.cache_k[rows, :, pos, :] = keys[:, :, 0, :][rows]
        self.cache_v[rows, :, pos, :] = values[:, :, 0, :][rows]
        self.seq_lens[rows] += 1

    def prefill(
        self,
        keys: np.ndarray,
        values: np.ndarray,
        lengths: Optional[np.ndarray] = None,
    ) -> None:
        """
        Append a block of prompt tokens, right-padded to a common length.

        Args:
            keys:    (batch, heads, tokens, head_dim)
            values:  (batch, heads, tokens, head_dim)
            lengths: (batch,) real tokens per sequence, default all of them
        """
        tokens = keys.shape[2]
        if lengths is None:
            lengths = np.full(self.config.batch_size, tokens, dtype=np.int64)
        lengths = np.asarray(lengths, dtype=np.int64)
        if np.any(lengths > tokens):
            raise ValueError(f"lengths {lengths.tolist()} exceed {tokens} tokens given")
        self._check_capacity(lengths)

        for b, n in enumerate(lengths):
            start = self.seq_lens[b]
            self.cache_k[b, :, start:start + n, :] = keys[b, :, :n, :]
            self.cache_v[b, :, start:start + n, :] = values[b, :, :n, :]
        self.seq_lens += lengths

    def get_all(self) -> Tuple[np.ndarray, np.ndarray]:
        """
        The whole cache up to the longest sequence.

        Returns:
            keys, values: views of shape (batch, heads, max(seq_lens), head_dim).
            Shorter sequences are padded; mask them with ``seq_lens``.
        """
        longest = int(self.seq_lens.max(initial=0))
        return self.cache_k[:, :, :longest, :], self.cache_v[:, :, :longest, :]

    def get(self, batch_idx: int) -> Tuple[np.ndarray, np.ndarray]:
        """One sequence without padding: (heads, seq_len, head_dim) each."""
        n = int(self.seq_lens[batch_idx])
        return self.cache_k[batch_idx, :, :n, :], self.cache_v[batch_idx, :, :n, :]

    def reset(self, batch_idx: Optional[int] = None) -> None:
        """Forget one sequence, or all of them. Slots are reused, not cleared."""
        if batch_idx is None:
            self.seq_lens[:] = 0
        else:
            self.seq_lens[batch_idx] = 0

    @property
    def allocated_bytes(self) -> int:
        """Bytes reserved for keys and values."""
        return self.cache_k.nbytes + self.cache_v.nbytes

    @property
    def used_bytes(self) -> int:
        """Bytes that hold real tokens."""
        return int(self.seq_lens.sum()) * self.config.bytes_per_token


class BatchedKVCache:
    """The caches of a whole model: L layers that share one config."""

    def __init__(self, num_layers: int, config: CacheConfig):
        self.num_layers = num_layers
        self.config = config
        self.layers: List[KVCache] = [KVCache(config) for _ in range(num_layers)]

    def __getitem__(self, layer_idx: int) -> KVCache:
        return self.layers[layer_idx]

    def __len__(self) -> int:
        return self.num_layers

    def update(
        self,
        layer_idx: int,
        keys: np.ndarray,
        values: np.ndarray,
        active: Optional[np.ndarray] = None,
    ) -> None:
        """Append one token per sequence to one layer; see KVCache.update."""
        self.layers[layer_idx].update(keys, values, active)

    def get_all(self, layer_idx: int) -> Tuple[np.ndarray, np.ndarray]:
        """Keys and values of one layer; see KVCache.get_all."""
        return self.layers[layer_idx].get_all()

    @property
    def seq_lens(self) -> np.ndarray:
        """(batch,) lengths, the same for every layer between steps."""
        return self.layers[0].seq_lens.copy()

    def reset(self, batch_idx: Optional[int] = None) -> None:
        """Forget one sequence, or all of them, in every layer."""
        for layer in self.layers:
            layer.reset(batch_idx)

    @property
    def allocated_bytes(self) -> int:
        """Bytes reserved over all layers."""
        return sum(layer.allocated_bytes for layer in self.layers)

    @property
    def used_bytes(self) -> int:
        """Bytes that hold real tokens, over all layers."""
        return sum(layer.used_bytes for layer in self.layers)
