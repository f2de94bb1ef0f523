# style: a slab of rows with keys and values interleaved, float or int8; attention gives its weights as well
# passes: incremental_equals_full, capacity, gqa, isolation, memory_model, quantized, variable_lengths
"""KV cache and cached multi-head attention in one file of NumPy.

    slab = KVSlab(rows=4, max_tokens=256, kv_heads=2, head_dim=16, layers=2)         # float32
    slab = KVSlab(..., store="int8")                                                 # 8-bit codes
    mha  = CachedMHA.random(d_model=64, heads=4, kv_heads=2)
    y, w = mha(x, slab, rows=[0, 2], layer=1)       # x: (len(rows), T, d_model)

Token-major storage ``(layers, rows, max_tokens, 2, kv_heads, head_dim)``: a token's key
and value are neighbours, so one decode step is one contiguous write per row.
int8 keeps one float32 scale per (token, key|value, head): ``scale = absmax / 127``.
Prefill, chunked prefill and decoding are the same call with a different T.
"""
from __future__ import annotations

import numpy as np


class CacheFull(ValueError):
    """A row has no room for the new tokens; nothing was written."""


def quantize(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric int8 over the last axis: ``(codes int8, scale float32)``; zeros stay zeros."""
    x = np.asarray(x, np.float32)
    scale = np.abs(x).max(axis=-1) / np.float32(127)
    scale = np.where(scale > 0, scale, np.float32(1))
    codes = np.clip(np.rint(x / scale[..., None]), -127, 127).astype(np.int8)
    return codes, scale


def dequantize(codes: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return codes.astype(np.float32) * scale[..., None]


class KVSlab:
    """Fixed-capacity cache for ``rows`` independent sequences of any length."""

    def __init__(self, rows, max_tokens, kv_heads, head_dim, layers=1, store="float32"):
        if store not in ("float16", "float32", "float64", "int8"):
            raise ValueError(f"unknown store {store!r}")
        self.store, self.max_tokens = store, max_tokens
        shape = (layers, rows, max_tokens, 2, kv_heads, head_dim)
        self.data = np.zeros(shape, store)
        self.scale = np.ones(shape[:-1], np.float32) if store == "int8" else None
        self.fill = np.zeros((layers, rows), np.int64)

    def _check(self, row: int, layer: int) -> None:
        if not (0 <= row < self.data.shape[1] and 0 <= layer < self.data.shape[0]):
            raise IndexError(f"no row {row} / layer {layer} in a slab of "
                             f"{self.data.shape[1]} rows and {self.data.shape[0]} layers")

    def put(self, row: int, k: np.ndarray, v: np.ndarray, layer: int = 0) -> int:
        """Append (T, kv_heads, head_dim) (or one token without T) to a row; returns its length."""
        self._check(row, layer)
        kv = np.stack([np.asarray(k), np.asarray(v)], axis=-3)
        kv = kv[None] if kv.ndim == 3 else kv
        if kv.shape[1:] != self.data.shape[3:]:
            raise ValueError(f"tokens of shape {kv.shape[2:]}, cache of {self.data.shape[4:]}")
        lo = int(self.fill[layer, row])
        hi = lo + len(kv)
        if hi > self.max_tokens:
            raise CacheFull(f"row {row} holds {lo} of {self.max_tokens} tokens, {len(kv)} more do not fit")
        if self.scale is None:
            self.data[layer, row, lo:hi] = kv
        else:
            self.data[layer, row, lo:hi], self.scale[layer, row, lo:hi] = quantize(kv)
        self.fill[layer, row] = hi
        return hi

    def get(self, row: int, layer: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """``k, v`` (S, kv_heads, head_dim): views of the slab, or dequantized float32 copies."""
        self._check(row, layer)
        n = self.fill[layer, row]
        kv = self.data[layer, row, :n]
        if self.scale is not None:
            kv = dequantize(kv, self.scale[layer, row, :n])
        return kv[:, 0], kv[:, 1]

    def clear(self, row: int) -> None:
        """Forget one sequence, in all layers (idempotent)."""
        self._check(row, 0)
        self.fill[:, row] = 0

    def nbytes(self) -> int:
        """Bytes allocated, scales included."""
        return self.data.nbytes + (0 if self.scale is None else self.scale.nbytes)


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Causal attention of the last T positions: q (T,H,D) on k, v (S,KVH,D), S >= T.

    Returns ``(out (T,H,D), weights (H,T,S))``.
    """
    (T, H, D), S = q.shape, len(k)
    kind = np.result_type(q, np.float32)
    head = np.arange(H) // (H // k.shape[1])              # kv head of each query head
    kh = k.astype(kind, copy=False)[:, head].transpose(1, 2, 0)
    vh = v.astype(kind, copy=False)[:, head].transpose(1, 0, 2)
    s = q.transpose(1, 0, 2) @ kh / kind.type(np.sqrt(D))
    s[:, np.arange(S) > np.arange(S - T, S)[:, None]] = -np.inf
    s -= s.max(axis=-1, keepdims=True)
    np.exp(s, out=s)
    s /= s.sum(axis=-1, keepdims=True)
    return (s @ vh).transpose(1, 0, 2), s


class CachedMHA:
    """Multi-head / grouped-query / multi-query attention over a :class:`KVSlab`."""

    def __init__(self, wq, wk, wv, wo, heads, kv_heads=None):
        self.wq, self.wk, self.wv, self.wo = (np.asarray(w) for w in (wq, wk, wv, wo))
        self.heads, self.kv_heads = heads, kv_heads or heads
        self.head_dim = self.wq.shape[1] // heads
        if self.heads % self.kv_heads or self.wk.shape[1] != self.kv_heads * self.head_dim:
            raise ValueError("head counts and weight shapes do not fit")

    @classmethod
    def random(cls, d_model, heads, kv_heads=None, seed=0, dtype=np.float32):
        rng, e = np.random.default_rng(seed), d_model // heads * (kv_heads or heads)
        make = lambda n: (rng.standard_normal((d_model, n)) * d_model ** -0.5).astype(dtype)
        return cls(make(d_model), make(e), make(e), make(d_model), heads, kv_heads)

    def __call__(self, x, slab, rows=None, layer=0):
        """x (R, T, d_model), row ``rows[i]`` of the slab gets x[i].

        Returns ``(y (R, T, d_model), [weights (H, T, S_i) per row])``.  With an int8 slab
        *every* key, the newest included, is seen through its codes, so that a result
        never depends on how a prompt was cut into calls.
        """
        rows = range(len(x)) if rows is None else rows
        if len(rows) != len(x) or len(set(rows)) != len(rows):
            raise ValueError("one distinct row per entry of x")
        for r in rows:                                    # all or nothing
            slab._check(r, layer)
            if slab.fill[layer, r] + x.shape[1] > slab.max_tokens:
                raise CacheFull(f"row {r} has no room for {x.shape[1]} tokens")
        T, ys, ws = x.shape[1], [], []
        for xi, r in zip(x, rows):
            slab.put(r, (xi @ self.wk).reshape(T, -1, self.head_dim),
                     (xi @ self.wv).reshape(T, -1, self.head_dim), layer)
            o, w = attend((xi @ self.wq).reshape(T, -1, self.head_dim), *slab.get(r, layer))
            ys.append(o.reshape(T, -1) @ self.wo)
            ws.append(w)
        return np.stack(ys), ws


def bytes_per_token(layers, kv_heads, head_dim, store="float16") -> int:
    """Cache bytes of one token of one sequence: key and value, all layers, with scales."""
    per_head = head_dim + 4 if store == "int8" else head_dim * np.dtype(store).itemsize
    return 2 * layers * kv_heads * per_head


def max_context(gpu_gib, weight_bytes, layers, kv_heads, head_dim, batch=1, store="float16") -> int:
    """Longest context (tokens per sequence) that fits a GPU of ``gpu_gib`` GiB (2**30 bytes)."""
    room = int(gpu_gib * 2 ** 30) - int(weight_bytes)
    return max(0, room // (batch * bytes_per_token(layers, kv_heads, head_dim, store)))
