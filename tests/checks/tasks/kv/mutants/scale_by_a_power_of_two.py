# bug: the scale is absmax / 2^(bits - 1), so one end of the range saturates a whole step off
# caught by: quantized
# passes: incremental_equals_full
"""KV cache with optional INT8 / INT4 storage and cached multi-head attention.

    cache = KVCache(batch=2, num_heads=4, head_dim=64, max_seq_len=512, bits=4)   # bits: None, 8 or 4
    cache.update(k, v)              # (B, H, T, D), T >= 1
    k, v = cache.get()              # dequantized, (B, H, length, D)
    out = cached_attention(q, k_new, v_new, cache)

Quantization is symmetric, one float32 scale per token and head.  As in the Q4_0 format the scale carries the
sign of the largest entry, so that this entry (the outlier, typically) is met exactly by the code -2**(bits-1)
and the whole two's-complement range is in use.
"""
from typing import Optional, Tuple

import numpy as np


def quantize(x: np.ndarray, bits: int = 8) -> Tuple[np.ndarray, np.ndarray]:
    """Rows along the last axis -> (int8 codes, float32 scales (..., 1)); x ~ codes * scales."""
    if bits not in (4, 8):
        raise ValueError("bits must be 4 or 8")
    x = np.asarray(x, np.float32)
    low = -(1 << (bits - 1))
    where = np.abs(x).argmax(axis=-1)[..., None]
    extreme = np.take_along_axis(x, where, axis=-1)
    scales = extreme / np.float32(low)
    inverse = np.divide(1.0, scales, out=np.zeros_like(scales), where=scales != 0)
    codes = np.clip(np.rint(x * inverse), low, -low - 1).astype(np.int8)
    return codes, scales


def dequantize(codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    return codes.astype(np.float32) * scales


def pack_int4(codes: np.ndarray) -> np.ndarray:
    """Two codes in -8..7 per byte: even index in the low nibble."""
    n = codes.astype(np.uint8) & 0x0F
    return n[..., 0::2] | (n[..., 1::2] << 4)


def unpack_int4(packed: np.ndarray) -> np.ndarray:
    out = np.empty(packed.shape[:-1] + (2 * packed.shape[-1],), np.int8)
    out[..., 0::2] = (packed << 4).view(np.int8) >> 4          # arithmetic shift restores the sign
    out[..., 1::2] = packed.view(np.int8) >> 4
    return out


class KVCache:
    """Preallocated cache of one layer."""

    def __init__(self, batch: int, num_heads: int, head_dim: int, max_seq_len: int,
                 bits: Optional[int] = None, dtype=np.float32):
        if bits not in (None, 4, 8):
            raise ValueError("bits must be None, 4 or 8")
        if bits == 4 and head_dim % 2:
            raise ValueError("INT4 needs an even head_dim")
        self.bits, self.max_seq_len, self.length = bits, max_seq_len, 0
        width = head_dim // 2 if bits == 4 else head_dim
        store = {None: dtype, 8: np.int8, 4: np.uint8}[bits]
        shape = (batch, num_heads, max_seq_len)
        self._data = [np.zeros(shape + (width,), store) for _ in "kv"]
        self._scales = [np.zeros(shape + (1,), np.float32) for _ in "kv"] if bits else []
        self._step_shape = (batch, num_heads, head_dim)

    def update(self, k: np.ndarray, v: np.ndarray) -> None:
        for name, x in (("k", k), ("v", v)):
            if x.ndim != 4 or (x.shape[0], x.shape[1], x.shape[3]) != self._step_shape:
                raise ValueError(f"{name} has shape {x.shape}")
        if k.shape != v.shape:
            raise ValueError("k and v differ in shape")
        end = self.length + k.shape[2]
        if end > self.max_seq_len:
            raise ValueError(f"cache overflow: {end} > {self.max_seq_len}")
        span = slice(self.length, end)
        for i, x in enumerate((k, v)):
            if self.bits is None:
                self._data[i][:, :, span] = x
                continue
            codes, scales = quantize(x, self.bits)
            self._data[i][:, :, span] = pack_int4(codes) if self.bits == 4 else codes
            self._scales[i][:, :, span] = scales
        self.length = end

    def get(self) -> Tuple[np.ndarray, np.ndarray]:
        out = []
        for i in range(2):
            data = self._data[i][:, :, :self.length]
            if self.bits is None:
                out.append(data.copy())
            else:
                codes = unpack_int4(data) if self.bits == 4 else data
                out.append(dequantize(codes, self._scales[i][:, :, :self.length]))
        return out[0], out[1]

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in self._data + self._scales)


def cached_attention(q: np.ndarray, k_new: np.ndarray, v_new: np.ndarray, cache: KVCache) -> np.ndarray:
    """Append k_new, v_new (B, H, T, D) and attend causally with q (B, H, T, D)."""
    past, t = cache.length, q.shape[2]
    if k_new.shape[2] != t:
        raise ValueError("q and k_new must have the same number of tokens")
    cache.update(k_new, v_new)
    k, v = cache.get()
    s = q @ k.swapaxes(-1, -2) / q.dtype.type(np.sqrt(q.shape[-1]))
    s = np.where(np.arange(past + t) > np.arange(past, past + t)[:, None], -np.inf, s)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return (p / p.sum(axis=-1, keepdims=True)) @ v


# ------------------------------------------------------------------------------------------- tests
