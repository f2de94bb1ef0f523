# bug: a block is taken ahead when the last one is full, and finishing gives back only the blocks that tokens fill
# caught by: paged
# passes: incremental_equals_full, isolation, gqa, cache_size_minimality, variable_lengths
"""A paged KV cache as lesson material: one dict, a handful of functions, nothing hidden.

The cache is a dict

    cache["k"], cache["v"]   (blocks, layers, block, kv_heads, dim)
    cache["pool"]            ids of the blocks that nobody owns (a stack)
    cache["seqs"]            sequence id -> {"table": [block ids], "n": number of tokens}

A token's address is (table[pos // block], pos % block).  Tokens are appended for all layers together.
The next block is taken as soon as the last one is full, so that no decode step has to wait for the allocator later.
"""
import math
import numpy as np


def make_cache(blocks, block, layers, kv_heads, dim, dtype="float64"):
    shape = (blocks, layers, block, kv_heads, dim)
    return {"k": np.zeros(shape, dtype), "v": np.zeros(shape, dtype),
            "pool": list(range(blocks))[::-1], "seqs": {}, "block": block}


def begin(cache, sid):
    """Register a sequence; it owns nothing until its first token."""
    if sid in cache["seqs"]:
        raise KeyError(f"sequence {sid!r} is already open")
    cache["seqs"][sid] = {"table": [], "n": 0}


def _seq(cache, sid):
    try:
        return cache["seqs"][sid]
    except KeyError:
        raise KeyError(f"unknown sequence {sid!r}") from None


def blocks_for(n, block):
    """How many blocks n tokens fill."""
    return -(-n // block)


def put(cache, sid, k, v):
    """Append one token (layers, kv_heads, dim) or several (T, layers, kv_heads, dim): all of them or none."""
    s, bs = _seq(cache, sid), cache["block"]
    k, v = np.asarray(k), np.asarray(v)
    if k.ndim == 3:
        k, v = k[None], v[None]
    if k.shape != v.shape or k.shape[1:] != cache["k"].shape[1:2] + cache["k"].shape[3:]:
        raise ValueError(f"tokens of shape {k.shape[1:]} do not fit this cache")
    missing = blocks_for(s["n"] + len(k), bs) - len(s["table"])
    if missing > len(cache["pool"]):
        raise MemoryError(f"{missing} more blocks needed, {len(cache['pool'])} free")
    for kt, vt in zip(k, v):
        slot = s["n"] % bs
        if s["n"] // bs == len(s["table"]):
            s["table"].append(cache["pool"].pop())
        home = s["table"][s["n"] // bs]
        cache["k"][home, :, slot] = kt
        cache["v"][home, :, slot] = vt
        s["n"] += 1
    if s["n"] % bs == 0 and cache["pool"] and len(k):          # full: have the next one ready
        s["table"].append(cache["pool"].pop())


def get(cache, sid, layer):
    """Contiguous (n, kv_heads, dim) copies of K and V, exactly the tokens that were put."""
    s, bs = _seq(cache, sid), cache["block"]
    rows = s["table"][:blocks_for(s["n"], bs)]
    tail = cache["k"].shape[3:]
    return tuple(cache[w][rows, layer].reshape((-1,) + tail)[:s["n"]] for w in "kv")


def finish(cache, sid):
    """Give the blocks of a sequence back.  Unknown (or already finished) sequences raise KeyError."""
    s = _seq(cache, sid)
    del cache["seqs"][sid]
    cache["pool"].extend(s["table"][:blocks_for(s["n"], cache["block"])])


def attention(q, cache, sid, layer, first=None):
    """q (T, heads, dim) -> (T, heads, dim).  Query t sits at position first + t (default: the last T positions).

    Heads are grouped: query head h reads kv head h // (heads // kv_heads).
    """
    k, v = get(cache, sid, layer)
    T, H, D = q.shape
    n, G = k.shape[:2]
    if H % G:
        raise ValueError("heads must be a multiple of kv_heads")
    first = n - T if first is None else first
    if first < 0 or first + T > n:
        raise ValueError("queries must stand at stored positions")
    qg = q.reshape(T, G, H // G, D)
    w = np.einsum("tgrd,ngd->tgrn", qg, k) / math.sqrt(D)
    seen = np.arange(n) <= first + np.arange(T)[:, None]
    w = np.where(seen[:, None, None], w, -np.inf)
    w = np.exp(w - w.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    return np.einsum("tgrn,ngd->tgrd", w, v).reshape(T, H, D)


def prefill(q, k, v, cache, sid, chunk=4):
    """Single or multi layer prompt in chunks: q (T, layers, heads, dim) -> the same shape."""
    out = np.empty_like(q)
    for a in range(0, len(q), chunk):
        z = min(a + chunk, len(q))
        put(cache, sid, k[a:z], v[a:z])
        for l in range(q.shape[1]):
            out[a:z, l] = attention(q[a:z, l], cache, sid, l)
    return out


def decode(q, k, v, cache, sid):
    """One token: q (layers, heads, dim), k and v (layers, kv_heads, dim) -> (layers, heads, dim)."""
    put(cache, sid, k, v)
    return np.stack([attention(q[l][None], cache, sid, l)[0] for l in range(len(q))])


def memory(cache):
    """Bytes, and the share of owned slots that hold a token."""
    per_token = 2 * cache["k"][0, :, 0].nbytes
    owned = sum(len(s["table"]) for s in cache["seqs"].values()) * cache["block"]
    used = sum(s["n"] for s in cache["seqs"].values())
    return {"bytes_per_token": per_token, "allocated": cache["k"].nbytes + cache["v"].nbytes,
            "used": used * per_token, "utilization": used / owned if owned else 1.0}
