# style: functions on a record whose buffer is replaced when it grows; a calculator that calls a head's width dim
# passes: incremental_equals_full, memory_model, quantized, gqa, variable_lengths
"""KV cache for LLM inference: one file, plain functions, no classes but one record.

A cache is a ``Cache`` record holding a single buffer  data[layer, slot, pos, 0|1, kv_head, dim]  (0 = key, 1 = value),
so that one token of one layer is contiguous.  Functions never return views that alias a cache except ``peek``.

    cache = make_cache(layers=2, slots=3, kv_heads=2, dim=8)
    out   = prefill_layer(cache, 0, q, k, v, counts)   # q (B, T, H, D), k and v (B, T, KVH, D)
    out   = decode_layer(cache, 0, q1, k1, v1)         # q1 (B, H, D), k1 and v1 (B, KVH, D)

Each layer keeps its own lengths; the buffer grows by ``GROW`` positions when it is full (no maximum), unless
``limit`` is given: then one position more is a ValueError and nothing has been written.
With ``bits=8`` the data are int8 codes and one float32 scale per token, head and K/V side.
"""
from types import SimpleNamespace as Cache

import numpy as np

GROW = 16
GIB = 2 ** 30


# ---------------------------------------------------------------- quantization
def quantize_rows(x):
    """Symmetric absmax INT8 over the last axis: (codes int8, scale float32 without that axis)."""
    x = np.asarray(x)
    scale = (np.abs(x).max(axis=-1) / 127.0).astype(np.float32)
    safe = np.where(scale > 0, scale, 1).astype(np.float64)
    codes = np.clip(np.rint(x / safe[..., None]), -127, 127)
    return codes.astype(np.int8), scale


def dequantize_rows(codes, scale, dtype=np.float32):
    return (codes.astype(dtype) * scale[..., None].astype(dtype)).astype(dtype, copy=False)


# ---------------------------------------------------------------- storage
def make_cache(layers, slots, kv_heads, dim, dtype=np.float64, bits=None, limit=None):
    """An empty cache; memory is taken on the first write."""
    if bits not in (None, 8):
        raise ValueError("bits must be None or 8")
    store = np.int8 if bits == 8 else dtype
    return Cache(
        data=np.empty((layers, slots, 0, 2, kv_heads, dim), store),
        scale=np.empty((layers, slots, 0, 2, kv_heads), np.float32) if bits == 8 else None,
        lengths=np.zeros((layers, slots), np.int64),
        dtype=np.dtype(dtype), limit=limit)


def _padded(a, extra):
    shape = list(a.shape)
    shape[2] = extra
    return np.concatenate([a, np.zeros(shape, a.dtype)], axis=2)


def ensure_room(cache, layer, counts):
    """Grow so that ``counts`` more positions fit, by at least a half to keep appends linear in all."""
    need = int((cache.lengths[layer] + counts).max(initial=0))
    if cache.limit is not None and need > cache.limit:
        raise ValueError(f"cache limit of {cache.limit} positions exceeded ({need} needed)")
    have = cache.data.shape[2]
    if need <= have:
        return
    size = max(-(-need // GROW) * GROW, have + have // 2)
    if cache.limit is not None:
        size = min(size, cache.limit)
    cache.data = _padded(cache.data, size - have)
    if cache.scale is not None:
        cache.scale = _padded(cache.scale, size - have)


def as_counts(counts, slots, steps):
    """None -> everything; a list of ints or booleans -> checked int array."""
    if counts is None:
        return np.full(slots, steps, np.int64)
    counts = np.asarray(counts).astype(np.int64)
    if counts.shape != (slots,) or counts.min(initial=0) < 0 or counts.max(initial=0) > steps:
        raise ValueError(f"counts must be {slots} numbers in 0..{steps}")
    return counts


def append(cache, layer, k, v, counts=None):
    """Append the first counts[b] rows of k, v (B, T, KVH, D) to slot b.  Returns the counts used."""
    if k.shape != v.shape or k.ndim != 4 or k.shape[0] != cache.data.shape[1] or k.shape[2:] != cache.data.shape[4:]:
        raise ValueError(f"bad shapes {k.shape} {v.shape} for a cache of {cache.data.shape}")
    counts = as_counts(counts, k.shape[0], k.shape[1])
    ensure_room(cache, layer, counts)
    kv = np.stack([k, v], axis=2)                                        # B T 2 KVH D
    b, t = np.nonzero(np.arange(k.shape[1]) < counts[:, None])           # all real (slot, row) pairs at once
    pos = cache.lengths[layer][b] + t
    if cache.scale is None:
        cache.data[layer, b, pos] = kv[b, t]
    else:
        cache.data[layer, b, pos], cache.scale[layer, b, pos] = quantize_rows(kv[b, t])
    cache.lengths[layer] += counts
    return counts


def known(cache, slot):
    """The slot, or an IndexError (negative numbers do not count from the end)."""
    if not 0 <= slot < cache.lengths.shape[1]:
        raise IndexError(f"no slot {slot}")
    return slot


def peek(cache, layer, slot):
    """(k, v), each (S, KVH, D), dequantized if need be."""
    known(cache, slot)
    n = cache.lengths[layer, slot]
    rows = cache.data[layer, slot, :n]
    if cache.scale is not None:
        rows = dequantize_rows(rows, cache.scale[layer, slot, :n], cache.dtype)
    return rows[:, 0], rows[:, 1]


def clear(cache, slot=None):
    """Forget a slot (or all); clearing an empty one is harmless."""
    cache.lengths[:, slice(None) if slot is None else known(cache, slot)] = 0


def truncate(cache, slot, length):
    """Roll back to ``length`` positions (speculative decoding)."""
    if not 0 <= length <= cache.lengths[:, known(cache, slot)].min():
        raise ValueError("can only shorten")
    cache.lengths[:, slot] = length


# ---------------------------------------------------------------- attention
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attend(q, k, v):
    """q (T, H, D), the last T positions of k, v (S, KVH, D).  H is a multiple of KVH.  Returns (T, H, D)."""
    steps, heads, dim = q.shape
    total, groups, _ = k.shape
    if heads % groups:
        raise ValueError("query heads must be a multiple of kv heads")
    qg = q.reshape(steps, groups, heads // groups, dim)
    s = np.einsum("tgrd,sgd->grts", qg, k, optimize=True) / np.sqrt(dim).astype(q.dtype)
    future = np.arange(total)[None, :] > np.arange(total - steps, total)[:, None]
    s[..., future] = -np.inf
    return np.einsum("grts,sgd->tgrd", softmax(s), v, optimize=True).reshape(steps, heads, dim)


def prefill_layer(cache, layer, q, k, v, counts=None):
    """Append a (chunk of a) prompt and attend causally, what was there before included.  Padding rows give 0."""
    counts = append(cache, layer, k, v, counts)
    out = np.zeros(q.shape, np.result_type(q, cache.dtype))
    for slot, n in enumerate(counts):
        if n:
            out[slot, :n] = attend(q[slot, :n], *peek(cache, layer, slot))
    return out


def decode_layer(cache, layer, q, k, v, active=None):
    """One token per slot: q (B, H, D), k, v (B, KVH, D) -> (B, H, D); inactive slots stay untouched and give 0."""
    return prefill_layer(cache, layer, q[:, None], k[:, None], v[:, None], active)[:, 0]


# ---------------------------------------------------------------- memory
def kv_bytes_per_token(layers, kv_heads, dim, itemsize=2, scale_bytes=0):
    return 2 * layers * kv_heads * (dim * itemsize + scale_bytes)


def max_tokens(gpu_gib, weights_gib, layers, kv_heads, dim, itemsize=2, batch=1, scale_bytes=0):
    free = (gpu_gib - weights_gib) * GIB
    return max(0, int(free // (batch * kv_bytes_per_token(layers, kv_heads, dim, itemsize, scale_bytes))))


def cache_nbytes(cache):
    """(allocated, used) bytes, scales included, bookkeeping not."""
    layers, slots, room, _, heads, dim = cache.data.shape
    per_row = 2 * heads * (dim * cache.data.itemsize + (0 if cache.scale is None else 4))
    return layers * slots * room * per_row, int(cache.lengths.sum()) * per_row


# ---------------------------------------------------------------- self test
def test_decode_equals_full():
    r = np.random.default_rng(0)
    q, k, v = r.normal(size=(2, 40, 4, 8)), r.normal(size=(2, 40, 2, 8)), r.normal(size=(2, 40, 2, 8))
    c = make_cache(1, 2, 2, 8)
    got = [prefill_layer(c, 0, q[:, :7], k[:, :7], v[:, :7])]
    got += [decode_layer(c, 0, q[:, i], k[:, i], v[:, i])[:, None] for i in range(7, 40)]
    got = np.concatenate(got, 1)
    for b in range(2):
        assert np.abs(got[b] - attend(q[b], k[b], v[b])).max() < 1e-12


def test_limit_and_quantization():
    r = np.random.default_rng(1)
    c = make_cache(1, 1, 2, 8, bits=8, limit=5)
    x = r.normal(size=(1, 5, 2, 8))
    append(c, 0, x, -x)
    k, v = peek(c, 0, 0)
    step = c.scale[0, 0, :5, 0, :, None]
    assert (np.abs(k - x[0]) <= step * 0.5001).all() and np.array_equal(k, -v)
    try:
        append(c, 0, x[:, :1], x[:, :1])
    except ValueError:
        assert np.array_equal(k, peek(c, 0, 0)[0])
    else:
        raise AssertionError("limit not kept")


def test_memory():
    assert kv_bytes_per_token(32, 32, 128) == 524288 and max_tokens(24, 16, 32, 8, 128) == 65536


if __name__ == "__main__":
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            test()
            print("passed", name)
