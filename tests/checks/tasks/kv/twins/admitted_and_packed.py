# style: a value: admitting a sequence gives a new cache, as appending and releasing do; tokens packed, no padding
# passes: incremental_equals_full, chunked_prefill, gqa, capacity, variable_lengths
# skips: isolation (nothing past a length)
"""Padding-free, persistent KV cache.

A cache is an immutable value.  Every layer holds ONE array of shape
(2, total_tokens, kv_heads, head_dim): the tokens of all live sequences, packed
end to end in the order of ``ids`` ("varlen" layout).  There are no slots
beyond a sequence's length, hence no masks over padding and no capacity: a
cache grows by exactly what is appended.  Old values stay valid (speculative
decoding rolls back by keeping the older cache).

    cache = create(n_layers=2, n_kv_heads=2, head_dim=8)
    cache = admit(cache, "a")
    cache = append(cache, layer=0, seq="a", k=k, v=v)      # k, v: (n, KVH, D)
    out = attend(cache, layer=0, seq="a", q=q)             # q: (n, H, D), the newest n positions
"""
from typing import Dict, Hashable, Iterable, NamedTuple, Tuple

import numpy as np


class Layer(NamedTuple):
    kv: np.ndarray              # (2, total, KVH, D), read-only
    lengths: Tuple[int, ...]    # per sequence, in the order of Cache.ids


class Cache(NamedTuple):
    ids: Tuple[Hashable, ...]
    layers: Tuple[Layer, ...]

    @property
    def nbytes(self) -> int:
        return sum(layer.kv.nbytes for layer in self.layers)


def _frozen(a: np.ndarray) -> np.ndarray:
    a.setflags(write=False)
    return a


def create(n_layers: int, n_kv_heads: int, head_dim: int, dtype=np.float32) -> Cache:
    empty = _frozen(np.empty((2, 0, n_kv_heads, head_dim), dtype))
    return Cache((), (Layer(empty, ()),) * n_layers)


def _index(cache: Cache, seq: Hashable) -> int:
    try:
        return cache.ids.index(seq)
    except ValueError:
        raise KeyError(f"unknown sequence {seq!r}") from None


def _span(layer: Layer, i: int) -> slice:
    start = sum(layer.lengths[:i])
    return slice(start, start + layer.lengths[i])


def admit(cache: Cache, seq: Hashable) -> Cache:
    """Register an empty sequence."""
    if seq in cache.ids:
        raise KeyError(f"sequence {seq!r} is already present")
    return Cache(cache.ids + (seq,), tuple(Layer(x.kv, x.lengths + (0,)) for x in cache.layers))


def release(cache: Cache, seq: Hashable) -> Cache:
    """Drop a sequence; its bytes are given back at once."""
    i = _index(cache, seq)
    layers = []
    for x in cache.layers:
        s = _span(x, i)
        kv = np.concatenate([x.kv[:, : s.start], x.kv[:, s.stop :]], axis=1)
        layers.append(Layer(_frozen(kv), x.lengths[:i] + x.lengths[i + 1 :]))
    return Cache(cache.ids[:i] + cache.ids[i + 1 :], tuple(layers))


def append(cache: Cache, layer: int, seq: Hashable, k: np.ndarray, v: np.ndarray) -> Cache:
    """Append n >= 1 tokens, k and v of shape (n, KVH, D) or (KVH, D) for one."""
    i = _index(cache, seq)
    x = cache.layers[layer]
    new = np.stack([k, v]).astype(x.kv.dtype, copy=False)
    if new.ndim == 3:
        new = new[:, None]
    if new.shape[2:] != x.kv.shape[2:]:
        raise ValueError(f"expected (n, {x.kv.shape[2]}, {x.kv.shape[3]}), got {new.shape[1:]}")
    at = _span(x, i).stop
    kv = np.concatenate([x.kv[:, :at], new, x.kv[:, at:]], axis=1)
    lengths = x.lengths[:i] + (x.lengths[i] + new.shape[1],) + x.lengths[i + 1 :]
    layers = cache.layers[:layer] + (Layer(_frozen(kv), lengths),) + cache.layers[layer + 1 :]
    return Cache(cache.ids, layers)


def read(cache: Cache, layer: int, seq: Hashable) -> Tuple[np.ndarray, np.ndarray]:
    """Read-only views of K and V, (length, KVH, D)."""
    x = cache.layers[layer]
    s = _span(x, _index(cache, seq))
    return x.kv[0, s], x.kv[1, s]


def attend(cache: Cache, layer: int, seq: Hashable, q: np.ndarray) -> np.ndarray:
    """Causal attention of the newest n positions; query head h reads KV head h // (H / KVH).

    ``q``: (n, H, D), or (H, D) for one token.  Returns the shape of q.
    """
    q = np.asarray(q)
    single = q.ndim == 2
    if single:
        q = q[None]
    k, v = read(cache, layer, seq)
    (n, heads, dim), (length, kv_heads, _) = q.shape, k.shape
    if n > length:
        raise ValueError(f"{n} queries but only {length} cached positions")
    if heads % kv_heads:
        raise ValueError(f"{heads} query heads do not divide over {kv_heads} KV heads")
    grouped = q.reshape(n, kv_heads, heads // kv_heads, dim)
    s = np.einsum("nkgd,skd->kgns", grouped, k) / q.dtype.type(np.sqrt(dim))
    future = np.arange(length)[None, :] > np.arange(length - n, length)[:, None]
    s[..., future] = -np.inf
    s -= s.max(-1, keepdims=True)
    p = np.exp(s)
    p /= p.sum(-1, keepdims=True)
    out = np.einsum("kgns,skd->nkgd", p, v).reshape(n, heads, dim)
    return out[0] if single else out


def prefill(cache: Cache, layer: int, seq: Hashable, q, k, v, chunk: int = 0) -> Tuple[Cache, np.ndarray]:
    """Append and attend a prompt, optionally ``chunk`` tokens at a time."""
    n = len(q)
    outs = []
    for a in range(0, n, chunk or n):
        b = min(a + (chunk or n), n)
        cache = append(cache, layer, seq, k[a:b], v[a:b])
        outs.append(attend(cache, layer, seq, q[a:b]))
    return cache, np.concatenate(outs)


def decode(cache: Cache, layer: int, batch: Dict[Hashable, tuple]) -> Tuple[Cache, Dict[Hashable, np.ndarray]]:
    """One token for several sequences: {seq: (q, k, v)} -> {seq: out}."""
    for seq, (_, k, v) in batch.items():
        cache = append(cache, layer, seq, k, v)
    return cache, {seq: attend(cache, layer, seq, q) for seq, (q, _, _) in batch.items()}


def bytes_per_token(n_layers: int, n_kv_heads: int, head_dim: int, itemsize: int = 2) -> int:
    return 2 * n_layers * n_kv_heads * head_dim * itemsize


def max_context(free_bytes: int, per_token: int, batch: int = 1) -> int:
    """Longest context that ``batch`` sequences can hold in ``free_bytes``."""
    return int(free_bytes) // (per_token * batch)
