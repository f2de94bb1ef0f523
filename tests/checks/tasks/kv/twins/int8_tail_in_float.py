# style: keys are quantized per channel, chunk by chunk; an unfinished chunk stays in floating point
# passes: quantized
# skips: incremental_equals_full, variable_lengths, isolation, growth, cache_size_minimality (codes alone)
# skips: chunked_prefill, gqa, paged, memory_model, purity
"""INT8 KV cache. Keys are quantized per channel in chunks, values per token.

Keys have outlier channels, so each channel of a chunk of ``chunk`` tokens has its own scale (KIVI);
the last, unfinished chunk stays in floating point until it is full.
"""

import numpy as np


def quantize_per_channel(x):
    """x: (B, H, T, D) -> codes int8 of the same shape, scale (B, H, 1, D)."""
    scale = np.abs(x).max(axis=2, keepdims=True) / 127.0
    scale = np.where(scale == 0, 1.0, scale)
    codes = np.clip(np.rint(x / scale), -127, 127).astype(np.int8)
    return codes, scale.astype(np.float32)


def quantize_per_token(x):
    """x: (B, H, T, D) -> codes int8 of the same shape, scale (B, H, T, 1)."""
    scale = np.abs(x).max(axis=3, keepdims=True) / 127.0
    scale = np.where(scale == 0, 1.0, scale)
    codes = np.clip(np.rint(x / scale), -127, 127).astype(np.int8)
    return codes, scale.astype(np.float32)


def dequantize(codes, scale):
    return codes.astype(np.float32) * scale


class Int8KVCache:
    def __init__(self, batch_size, num_heads, head_dim, chunk=16):
        self.batch_size = batch_size
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.chunk = chunk
        self._k_chunks = []  # (codes, scale)
        self._v_chunks = []
        empty = np.zeros((batch_size, num_heads, 0, head_dim), dtype=np.float32)
        self._k_tail = empty
        self._v_tail = empty.copy()

    def __len__(self):
        return len(self._k_chunks) * self.chunk + self._k_tail.shape[2]

    def append(self, k, v):
        """k, v: (B, H, T, D), any T of at least 1."""
        self._k_tail = np.concatenate([self._k_tail, k.astype(np.float32)], axis=2)
        self._v_tail = np.concatenate([self._v_tail, v.astype(np.float32)], axis=2)
        while self._k_tail.shape[2] >= self.chunk:
            self._k_chunks.append(quantize_per_channel(self._k_tail[:, :, : self.chunk]))
            self._v_chunks.append(quantize_per_token(self._v_tail[:, :, : self.chunk]))
            self._k_tail = self._k_tail[:, :, self.chunk :].copy()
            self._v_tail = self._v_tail[:, :, self.chunk :].copy()

    def get(self):
        """Dequantized K and V, each (B, H, S, D) float32."""
        k = [dequantize(*c) for c in self._k_chunks] + [self._k_tail]
        v = [dequantize(*c) for c in self._v_chunks] + [self._v_tail]
        return np.concatenate(k, axis=2), np.concatenate(v, axis=2)

    def memory_bytes(self):
        held = sum(c.nbytes + s.nbytes for c, s in self._k_chunks + self._v_chunks)
        return held + self._k_tail.nbytes + self._v_tail.nbytes


def attention(q, cache):
    """Attend from q (B, H, T, D), the newest T positions, over what the cache holds."""
    k, v = cache.get()
    T, S = q.shape[2], k.shape[2]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    allowed = np.arange(S)[None, :] <= np.arange(S - T, S)[:, None]
    scores = np.where(allowed, scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True)) @ v
