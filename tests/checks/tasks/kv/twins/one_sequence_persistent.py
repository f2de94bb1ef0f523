# style: a persistent value per sequence and layer; appending leaves the old one as it was
# passes: incremental_equals_full, gqa, growth
# skips: isolation (nothing past a length)
"""Persistent (immutable) KV cache, in the style of jax: every operation takes a cache and returns a new one.

A cache is one sequence in one attention layer:

    KV(blocks, tail_k, tail_v, spec)

``blocks`` is a tuple of sealed, read-only (k, v) pairs of ``spec.block`` tokens, shared between all caches derived
from one another; ``tail_*`` hold the fewer-than-a-block newest tokens.  Appending copies the tail only (O(block),
not O(S)), so older caches stay valid: forking for beam search or a shared prompt costs nothing.

Layouts: q (H, T, D);  k, v (KVH, T, D);  out (H, T, D).  H may be any multiple of KVH.

    kv_init(kv_heads, head_dim)        -> KV
    kv_append(kv, k, v)                -> KV
    kv_read(kv)                        -> (K, V), both (KVH, S, D)
    attend(q, kv)                      -> out          queries are the *last* T cached tokens, causal
    step(kv, q, k, v)                  -> (out, KV)    append, then attend: prefill, chunk and decode are one thing
    batch_step(kvs, qs, ks, vs)        -> (outs, KVs)  ragged batches, any lengths
"""
from __future__ import annotations

import math
from functools import reduce
from typing import NamedTuple, Sequence

import numpy as np


class Spec(NamedTuple):
    kv_heads: int
    head_dim: int
    block: int = 16
    dtype: str = "float64"


class KV(NamedTuple):
    blocks: tuple
    tail_k: np.ndarray
    tail_v: np.ndarray
    spec: Spec


class Partial(NamedTuple):
    """Unnormalised softmax state of a set of queries: running max, denominator, numerator."""
    m: np.ndarray      # (KVH, G*T)
    z: np.ndarray      # (KVH, G*T)
    acc: np.ndarray    # (KVH, G*T, D)


def _frozen(a: np.ndarray) -> np.ndarray:
    a = np.array(a, order="C")
    a.setflags(write=False)
    return a


def kv_init(kv_heads: int, head_dim: int, block: int = 16, dtype="float64") -> KV:
    if min(kv_heads, head_dim, block) < 1:
        raise ValueError("kv_heads, head_dim and block must be positive")
    empty = _frozen(np.empty((kv_heads, 0, head_dim), dtype))
    return KV((), empty, empty, Spec(kv_heads, head_dim, block, np.dtype(dtype).name))


def kv_length(kv: KV) -> int:
    return len(kv.blocks) * kv.spec.block + kv.tail_k.shape[1]


def kv_append(kv: KV, k, v) -> KV:
    """Add T >= 0 tokens, k and v of shape (KVH, T, D) or (KVH, D) for one token."""
    spec = kv.spec
    k, v = (np.asarray(a, spec.dtype) for a in (k, v))
    k, v = (a[:, None, :] if a.ndim == 2 else a for a in (k, v))
    if k.shape != v.shape or k.ndim != 3 or (k.shape[0], k.shape[2]) != (spec.kv_heads, spec.head_dim):
        raise ValueError(f"expected ({spec.kv_heads}, T, {spec.head_dim}) for k and v, got {k.shape} and {v.shape}")
    k = np.concatenate([kv.tail_k, k], axis=1)
    v = np.concatenate([kv.tail_v, v], axis=1)
    full = k.shape[1] // spec.block * spec.block
    sealed = tuple((_frozen(k[:, a:a + spec.block]), _frozen(v[:, a:a + spec.block]))
                   for a in range(0, full, spec.block))
    return KV(kv.blocks + sealed, _frozen(k[:, full:]), _frozen(v[:, full:]), spec)


def kv_truncate(kv: KV, length: int) -> KV:
    """The cache as it was after ``length`` tokens (rejecting speculated tokens)."""
    if not 0 <= length <= kv_length(kv):
        raise ValueError(f"length {length} not in 0..{kv_length(kv)}")
    n, rest = divmod(length, kv.spec.block)
    k, v = kv.blocks[n] if n < len(kv.blocks) else (kv.tail_k, kv.tail_v)
    return KV(kv.blocks[:n], _frozen(k[:, :rest]), _frozen(v[:, :rest]), kv.spec)


def kv_read(kv: KV):
    """Contiguous copies of everything cached: (K, V), each (KVH, S, D)."""
    ks, vs = zip(*kv.blocks, (kv.tail_k, kv.tail_v))
    return np.concatenate(ks, axis=1), np.concatenate(vs, axis=1)


def kv_nbytes(kv: KV) -> int:
    """Bytes of this cache alone (blocks shared with other caches are counted in each)."""
    return sum(a.nbytes for pair in kv.blocks for a in pair) + kv.tail_k.nbytes + kv.tail_v.nbytes


def bytes_per_token(layers: int, kv_heads: int, head_dim: int, itemsize: int) -> int:
    return 2 * layers * kv_heads * head_dim * itemsize


def _partial(q, k, v, first_slot, q_pos) -> Partial:
    s = q @ k.swapaxes(1, 2)                                       # (KVH, G*T, n)
    s = np.where(first_slot + np.arange(k.shape[1]) <= q_pos[:, None], s, -np.inf)
    m = s.max(axis=-1)
    p = np.exp(s - np.where(np.isfinite(m), m, 0)[..., None])
    return Partial(m, p.sum(-1), p @ v)


def _merge(a: Partial, b: Partial) -> Partial:
    m = np.maximum(a.m, b.m)
    ref = np.where(np.isfinite(m), m, 0)
    wa, wb = np.exp(a.m - ref), np.exp(b.m - ref)
    return Partial(m, a.z * wa + b.z * wb, a.acc * wa[..., None] + b.acc * wb[..., None])


def attend(q, kv: KV) -> np.ndarray:
    """Causal attention of the newest T tokens' queries over the cache, block by block with a streaming softmax."""
    q = np.asarray(q, kv.spec.dtype)
    squeeze = q.ndim == 2
    q = q[:, None, :] if squeeze else q
    H, T, D = q.shape
    kvh, S, bs = kv.spec.kv_heads, kv_length(kv), kv.spec.block
    if D != kv.spec.head_dim or H % kvh:
        raise ValueError(f"q of shape {q.shape} does not fit {kv.spec}")
    if not 0 < T <= S:
        raise ValueError(f"{T} queries but {S} cached tokens: append keys and values before attending")
    grouped = q.reshape(kvh, H // kvh * T, D) / math.sqrt(D)       # consecutive query heads share a kv head
    q_pos = np.tile(np.arange(S - T, S), H // kvh)
    pieces = [*kv.blocks] + ([(kv.tail_k, kv.tail_v)] if kv.tail_k.shape[1] else [])
    total = reduce(_merge, (_partial(grouped, k, v, i * bs, q_pos) for i, (k, v) in enumerate(pieces)))
    out = (total.acc / total.z[..., None]).reshape(H, T, D)
    return out[:, 0] if squeeze else out


def step(kv: KV, q, k, v):
    """One prefill, chunk or decode step: (out, new cache). ``kv`` itself is untouched."""
    kv = kv_append(kv, k, v)
    return attend(q, kv), kv


def batch_step(kvs: Sequence[KV], qs, ks, vs):
    """A ragged batch is a sequence of caches; None as a row's q leaves that (finished) sequence alone."""
    rows = [(None, kv) if q is None else step(kv, q, k, v) for kv, q, k, v in zip(kvs, qs, ks, vs, strict=True)]
    return [o for o, _ in rows], [kv for _, kv in rows]
