# style: a dict of packed four-bit codes with scales, functions that nothing names after it
# skips: incremental_equals_full (its only cache keeps codes)
# only: quantized, incremental_equals_full, capacity

from functools import partial
import numpy as np


def pack_int4(codes):
    """codes in [-8, 7], (..., d) with even d -> uint8 (..., d // 2)."""
    u = (codes & 0xF).astype(np.uint8)
    return u[..., 0::2] | (u[..., 1::2] << 4)


def unpack_int4(packed):
    lo = (packed & 0xF).astype(np.int8)
    hi = (packed >> 4).astype(np.int8)
    lo, hi = np.where(lo > 7, lo - 16, lo), np.where(hi > 7, hi - 16, hi)
    out = np.empty(packed.shape[:-1] + (packed.shape[-1] * 2,), np.int8)
    out[..., 0::2], out[..., 1::2] = lo, hi
    return out


def quantize_int4(x):
    scale = np.maximum(np.abs(x).max(-1, keepdims=True), 1e-8).astype(np.float32) / 7
    return pack_int4(np.clip(np.round(x / scale), -8, 7).astype(np.int8)), scale


def dequantize_int4(packed, scale):
    return unpack_int4(packed).astype(np.float32) * scale


def make_cache(batch, heads, max_len, head_dim):
    z = partial(np.zeros, (batch, heads, max_len, head_dim // 2), np.uint8)
    s = partial(np.zeros, (batch, heads, max_len, 1), np.float32)
    return {"k": z(), "v": z(), "k_scale": s(), "v_scale": s(), "pos": 0}


def append(cache, k, v):
    n = k.shape[2]
    p = cache["pos"]
    if p + n > cache["k"].shape[2]:
        raise ValueError("cache overflow")
    cache["k"][:, :, p:p + n], cache["k_scale"][:, :, p:p + n] = quantize_int4(k)
    cache["v"][:, :, p:p + n], cache["v_scale"][:, :, p:p + n] = quantize_int4(v)
    cache["pos"] = p + n
    return cache


def read(cache):
    n = cache["pos"]
    return (dequantize_int4(cache["k"][:, :, :n], cache["k_scale"][:, :, :n]),
            dequantize_int4(cache["v"][:, :, :n], cache["v_scale"][:, :, :n]))


def decode_attention(q, cache):
    """q (B,H,1,D)"""
    k, v = read(cache)
    s = (q @ k.transpose(0, 1, 3, 2)) / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ v


