# bug: a step goes over its keys in spans of 32 and merges them by their maxima, not by their sums
# caught by: incremental_equals_full
# passes: gqa, isolation, capacity, memory_model, variable_lengths
#!/usr/bin/env python3
"""
KV cache for LLM inference -- NumPy, no frameworks.

* ``KVCache``            preallocated (layers, 2, batch, kv_heads, max_seq, head_dim) buffer, one length per sequence
* ``prefill_attention``  causal attention of a block of queries over everything cached
* ``decode_attention``   single-query attention, split over the keys ("flash decoding"): each span of SPLIT keys is
                         reduced on its own, with its own maximum, and the spans are merged at the end. On a GPU
                         the spans run on different SMs; here they bound the scratch memory of a step.
* ``Transformer``        pre-norm decoder with RoPE and GQA, ``prefill`` / ``decode_step`` / ``forward_full``
* ``MemoryPlan``         bytes per token, maximum context and batch

Run the file to see the self tests and a memory table.
"""
from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

SPLIT = 32


class CacheFull(RuntimeError):
    """Raised before anything is written when a sequence has no room left."""


@dataclass(frozen=True)
class ModelSpec:
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: int = 2
    head_dim: int = 8
    vocab: int = 61

    @property
    def d_model(self) -> int:
        return self.n_heads * self.head_dim


class KVCache:
    """Contiguous cache for a fixed batch. ``write`` stores, ``advance`` makes the tokens count."""

    def __init__(self, n_layers, batch, n_kv_heads, max_seq, head_dim, dtype=np.float32):
        self.data = np.zeros((n_layers, 2, batch, n_kv_heads, max_seq, head_dim), dtype=dtype)
        self.lengths = np.zeros(batch, dtype=np.int64)
        self.max_seq = max_seq

    def require(self, seq: int, n: int) -> None:
        if self.lengths[seq] + n > self.max_seq:
            raise CacheFull(f"sequence {seq}: {self.lengths[seq]} + {n} tokens > max_seq {self.max_seq}")

    def write(self, layer: int, seq: int, k: np.ndarray, v: np.ndarray) -> None:
        """Place k, v (kv_heads, n, head_dim) behind the current end of ``seq`` in ``layer``."""
        n = k.shape[1]
        self.require(seq, n)
        at = self.lengths[seq]
        self.data[layer, 0, seq, :, at:at + n] = k
        self.data[layer, 1, seq, :, at:at + n] = v

    def advance(self, seq: int, n: int = 1) -> None:
        self.require(seq, n)
        self.lengths[seq] += n

    def view(self, layer: int, seq: int, pending: int = 0):
        """(K, V), each (kv_heads, length + pending, head_dim); views, not copies."""
        end = self.lengths[seq] + pending
        return self.data[layer, 0, seq, :, :end], self.data[layer, 1, seq, :, :end]

    def reset(self, seq: int) -> None:
        self.lengths[seq] = 0

    @property
    def nbytes(self) -> int:
        return self.data.nbytes

    @property
    def nbytes_used(self) -> int:
        L, _, _, h, _, d = self.data.shape
        return int(self.lengths.sum()) * 2 * L * h * d * self.data.itemsize


def prefill_attention(q, k, v):
    """q (H, n, D) are the last n of the S positions in k, v (Hk, S, D). Returns (H, n, D)."""
    H, n, D = q.shape
    Hk, S, _ = k.shape
    qg = q.reshape(Hk, H // Hk, n, D)
    s = qg @ k[:, None].swapaxes(-1, -2) * q.dtype.type(D ** -0.5)
    s = np.where(np.tri(n, S, S - n, dtype=bool), s, -np.inf)
    w = np.exp(s - s.max(axis=-1, keepdims=True))
    w /= w.sum(axis=-1, keepdims=True)
    return (w @ v[:, None]).reshape(H, n, D)


def decode_attention(q, k, v, split: int = SPLIT):
    """q (H, D) at the last position of k, v (Hk, S, D). Returns (H, D)."""
    H, D = q.shape
    Hk, S, _ = k.shape
    qg = q.reshape(Hk, H // Hk, D)
    scale = q.dtype.type(D ** -0.5)
    outs, tops = [], []
    for a in range(0, S, split):
        s = qg @ k[:, a:a + split].swapaxes(-1, -2) * scale      # (Hk, G, span)
        top = s.max(axis=-1, keepdims=True)
        w = np.exp(s - top)
        outs.append((w / w.sum(axis=-1, keepdims=True)) @ v[:, a:a + split])
        tops.append(top)
    if len(outs) == 1:
        return outs[0].reshape(H, D)
    outs, tops = np.stack(outs), np.stack(tops)                  # (spans, Hk, G, D), (spans, Hk, G, 1)
    share = np.exp(tops - tops.max(axis=0))
    share /= share.sum(axis=0)
    return (share * outs).sum(axis=0).reshape(H, D)


def _rope(x, start):
    """x (H, n, D) at positions start .. start + n - 1."""
    D = x.shape[-1]
    f = 10000.0 ** (-np.arange(0, D, 2) / D)
    a = np.arange(start, start + x.shape[1])[:, None] * f
    c, s = np.cos(a).astype(x.dtype), np.sin(a).astype(x.dtype)
    out = np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * c - x[..., 1::2] * s
    out[..., 1::2] = x[..., 0::2] * s + x[..., 1::2] * c
    return out


def _norm(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(1e-6))


class Transformer:
    def __init__(self, spec: ModelSpec = ModelSpec(), seed: int = 0, dtype=np.float32):
        rng = np.random.default_rng(seed)
        E, kv = spec.d_model, spec.n_kv_heads * spec.head_dim

        def m(*s):
            return (rng.standard_normal(s) / np.sqrt(s[0])).astype(dtype)
        self.spec, self.dtype = spec, dtype
        self.emb, self.head = rng.standard_normal((spec.vocab, E)).astype(dtype), m(E, spec.vocab)
        self.layers = [(m(E, E), m(E, kv), m(E, kv), m(E, E), m(E, 2 * E), m(2 * E, E)) for _ in range(spec.n_layers)]

    def new_cache(self, batch: int, max_seq: int) -> KVCache:
        s = self.spec
        return KVCache(s.n_layers, batch, s.n_kv_heads, max_seq, s.head_dim, self.dtype)

    def _heads(self, x, w):
        return (x @ w).reshape(len(x), -1, self.spec.head_dim).swapaxes(0, 1)

    def _run(self, ids, start, attend):
        x = self.emb[np.asarray(ids)]
        for i, (wq, wk, wv, wo, w1, w2) in enumerate(self.layers):
            h = _norm(x)
            q, k = _rope(self._heads(h, wq), start), _rope(self._heads(h, wk), start)
            o = attend(i, q, k, self._heads(h, wv))
            x = x + o.swapaxes(0, 1).reshape(len(x), -1) @ wo
            x = x + np.maximum(_norm(x) @ w1, 0) @ w2
        return _norm(x) @ self.head

    def forward_full(self, ids):
        """(n, vocab) logits with no cache."""
        return self._run(ids, 0, lambda i, q, k, v: prefill_attention(q, k, v))

    def prefill(self, ids, cache: KVCache, seq: int = 0):
        """Append a prompt, or a further chunk of it, to ``seq``; (n, vocab) logits."""
        n = len(ids)
        cache.require(seq, n)

        def attend(i, q, k, v):
            cache.write(i, seq, k, v)
            return prefill_attention(q, *cache.view(i, seq, pending=n))
        logits = self._run(ids, int(cache.lengths[seq]), attend)
        cache.advance(seq, n)
        return logits

    def decode_step(self, tokens, cache: KVCache, seqs=None):
        """One token for each of ``seqs`` (default: the whole batch); (len(seqs), vocab) logits."""
        seqs = range(len(cache.lengths)) if seqs is None else list(seqs)
        if len(set(seqs)) != len(seqs) or len(tokens) != len(seqs):
            raise ValueError("need one token for each of some distinct sequences")
        for b in seqs:
            cache.require(b, 1)
        rows = []
        for tok, b in zip(tokens, seqs):
            def attend(i, q, k, v, b=b):
                cache.write(i, b, k, v)
                return decode_attention(q[:, 0], *cache.view(i, b, pending=1))[:, None]
            rows.append(self._run([tok], int(cache.lengths[b]), attend)[0])
            cache.advance(b)
        return np.stack(rows)


@dataclass(frozen=True)
class MemoryPlan:
    n_layers: int
    n_kv_heads: int
    head_dim: int
    itemsize: int = 2

    @property
    def bytes_per_token(self) -> int:
        return 2 * self.n_layers * self.n_kv_heads * self.head_dim * self.itemsize

    def max_context(self, gpu_gib: float, weights_gib: float = 0.0, batch: int = 1) -> int:
        return int((gpu_gib - weights_gib) * 2 ** 30 // (self.bytes_per_token * batch))


# ------------------------------------------------------------------------------------------------ self tests
def test_incremental():
    for dtype, tol in ((np.float32, 2e-5), (np.float64, 1e-11)):
        m, ids = Transformer(dtype=dtype), np.random.default_rng(1).integers(0, 61, 30)
        ref, c = m.forward_full(ids), m.new_cache(1, 30)
        got = [m.prefill(ids[:7], c), m.prefill(ids[7:12], c)] + [m.decode_step([t], c) for t in ids[12:]]
        assert np.abs(np.concatenate(got) - ref).max() < tol


def test_ragged_batch():
    m, rng = Transformer(dtype=np.float64), np.random.default_rng(2)
    prompts = [rng.integers(0, 61, n) for n in (1, 9, 4)]
    c = m.new_cache(3, 16)
    for b, p in enumerate(prompts):
        m.prefill(p, c, b)
    got = m.decode_step([5, 6], c, seqs=[2, 0])
    for row, (b, t) in zip(got, ((2, 5), (0, 6))):
        assert np.allclose(row, m.forward_full(np.append(prompts[b], t))[-1], atol=1e-11)


def test_split_decode_long_context():
    """Many spans: a constant value vector must come back as it is, and a dominant key must win."""
    rng = np.random.default_rng(3)
    q, k = rng.standard_normal((4, 8)), rng.standard_normal((2, 200, 8))
    assert np.allclose(decode_attention(q, k, np.full((2, 200, 8), 1.5)), 1.5)
    k[0, 77] = 60 * q[0]
    v = rng.standard_normal((2, 200, 8))
    assert np.allclose(decode_attention(q, k, v)[0], v[0, 77], atol=1e-6)


def test_full_cache():
    m = Transformer()
    c = m.new_cache(1, 4)
    m.prefill([1, 2, 3, 4], c)
    before = c.data.copy()
    try:
        m.decode_step([5], c)
    except CacheFull:
        assert np.array_equal(before, c.data) and c.lengths[0] == 4
    else:
        raise AssertionError("overflow went unnoticed")


def test_memory_plan():
    assert MemoryPlan(32, 8, 128).bytes_per_token == 131072
    assert MemoryPlan(32, 8, 128).max_context(16) == 131072


if __name__ == "__main__":
    for name, f in sorted(globals().items()):
        if name.startswith("test_"):
            f()
            print("ok", name)
    for ctx in (4096, 32768, 131072):
        print(f"8B-like model, {ctx:>6} tokens: {MemoryPlan(32, 8, 128).bytes_per_token * ctx / 2**30:.2f} GiB")
    sys.exit(0)
