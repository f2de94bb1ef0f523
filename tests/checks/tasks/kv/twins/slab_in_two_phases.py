# right: tokens are put in every layer, then committed; reads are read-only views; the decoder has 31 ids, as many as a prompt has tokens
# skips: paged
# passes: chunked_prefill, quantized
"""A static KV slab for a small decoder: NumPy, batch-first, ragged, optionally INT8.

    slab = Slab(layers, batch, capacity, kv_heads, head_dim, dtype, store="float" | "int8")
    slab.put(layer, b, k, v)      k, v (kv_heads, n, head_dim), written behind what is committed
    slab.commit(b, n)             after the last layer: the n tokens now count
    slab.get(layer, b, upto)      k, v (kv_heads, upto, head_dim), read-only

The two-phase write (put in every layer, then commit) leaves a slab that raised in the middle of
a step exactly as it was: what is not committed is not there.
"""
from dataclasses import dataclass

import numpy as np


class SlabFull(RuntimeError):
    """The tokens do not fit behind the committed ones; nothing was written."""


def quantize_rows(x):
    """Symmetric INT8, one scale per (token, head): codes (..., d) int8, scale (...) float32."""
    scale = (np.abs(x).max(axis=-1) / 127.0).astype(np.float32)
    scale = np.where(scale > 0, scale, np.float32(1.0))
    codes = np.clip(np.rint(x / scale[..., None].astype(np.float64)), -127, 127)
    return codes.astype(np.int8), scale


def dequantize_rows(codes, scale, dtype=np.float64):
    return (codes * scale[..., None].astype(np.float64)).astype(dtype)


class Slab:
    def __init__(self, layers, batch, capacity, kv_heads, head_dim, dtype=np.float32,
                 store="float"):
        if store not in ("float", "int8"):
            raise ValueError("store must be 'float' or 'int8'")
        self.dtype, self.store, self.capacity = np.dtype(dtype), store, capacity
        shape = (layers, 2, batch, kv_heads, capacity, head_dim)
        self.data = np.zeros(shape, np.int8 if store == "int8" else dtype)
        self.scales = np.ones(shape[:-1], np.float32) if store == "int8" else None
        self.lengths = np.zeros(batch, np.int64)

    def _row(self, b):
        if not 0 <= b < len(self.lengths):
            raise IndexError(f"no sequence {b} in a slab of {len(self.lengths)} rows")

    def put(self, layer, b, k, v):
        self._row(b)
        lo = int(self.lengths[b])
        hi = lo + k.shape[1]
        if hi > self.capacity:
            raise SlabFull(f"sequence {b}: {hi} tokens asked of a slab of {self.capacity}")
        for which, new in enumerate((k, v)):
            if self.scales is None:
                self.data[layer, which, b, :, lo:hi] = new
            else:
                codes, scale = quantize_rows(new)
                self.data[layer, which, b, :, lo:hi] = codes
                self.scales[layer, which, b, :, lo:hi] = scale

    def commit(self, b, n):
        self._row(b)
        if self.lengths[b] + n > self.capacity:
            raise SlabFull(f"sequence {b} cannot commit {n} more tokens")
        self.lengths[b] += n

    def get(self, layer, b, upto=None):
        self._row(b)
        upto = int(self.lengths[b]) if upto is None else upto
        if upto > self.capacity:
            raise SlabFull(f"{upto} tokens read from a slab of {self.capacity}")
        out = self.data[layer, :, b, :, :upto]
        if self.scales is not None:
            out = dequantize_rows(out, self.scales[layer, :, b, :, :upto], self.dtype)
        else:
            out = out.view()
        out.flags.writeable = False
        return out[0], out[1]

    def reset(self, b):
        """Forget a sequence; its row may be used again at once.  Twice is as good as once."""
        self._row(b)
        self.lengths[b] = 0

    @property
    def nbytes(self):
        return self.data.nbytes + (0 if self.scales is None else self.scales.nbytes)


def online_attention(q, k, v, first):
    """q (H, n, d) at positions first..first+n-1 over k, v (G, S, d): grouped, causal, (H, n, d)."""
    H, n, d = q.shape
    G, S, _ = k.shape
    qg = q.reshape(G, (H // G) * n, d)
    s = (qg @ k.swapaxes(1, 2)).reshape(G, H // G, n, S) / np.sqrt(d).astype(q.dtype)
    s = np.where(np.arange(S) <= first + np.arange(n)[:, None], s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    o = p.reshape(G, -1, S) @ v
    return (o.reshape(G, H // G, n, d) / p.sum(-1, keepdims=True)).reshape(H, n, d)


@dataclass(frozen=True)
class Config:
    vocab: int = 31
    width: int = 24
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 6
    max_len: int = 64


class Decoder:
    """Pre-norm attention + tanh MLP, learned positions, tied embedding; weights from a seed."""

    def __init__(self, cfg=Config(), seed=0, dtype=np.float64):
        rng, c = np.random.default_rng(seed), cfg
        self.cfg, self.dtype = cfg, np.dtype(dtype)

        def w(*s):
            return (rng.normal(size=s) / np.sqrt(s[-2])).astype(dtype)
        self.tok, self.pos = w(c.vocab, c.width), w(c.max_len, c.width)
        kvw = c.kv_heads * c.head_dim
        self.blocks = [dict(q=w(c.width, c.heads * c.head_dim), k=w(c.width, kvw),
                            v=w(c.width, kvw), o=w(c.heads * c.head_dim, c.width),
                            up=w(c.width, 2 * c.width), down=w(2 * c.width, c.width))
                       for _ in range(c.layers)]

    def new_slab(self, batch, capacity=None, store="float"):
        c = self.cfg
        return Slab(c.layers, batch, min(capacity or c.max_len, c.max_len), c.kv_heads, c.head_dim, self.dtype, store)

    @staticmethod
    def _norm(x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)

    def feed(self, slab, b, ids):
        """Append ids (n >= 1 ints) to row b; logits (n, vocab).  Any split of a prompt is a prefill."""
        ids, c = np.asarray(ids, dtype=np.int64), self.cfg
        slab._row(b)
        n, first = len(ids), int(slab.lengths[b])
        if first + n > slab.capacity:
            raise SlabFull(f"sequence {b}: {first} + {n} tokens > {slab.capacity}")
        x = self.tok[ids] + self.pos[first:first + n]
        for i, w in enumerate(self.blocks):
            h = self._norm(x)

            def split(m):
                return (h @ m).reshape(n, -1, c.head_dim).swapaxes(0, 1)
            slab.put(i, b, split(w["k"]), split(w["v"]))
            o = online_attention(split(w["q"]), *slab.get(i, b, first + n), first)
            x = x + o.swapaxes(0, 1).reshape(n, -1) @ w["o"]
            x = x + np.tanh(self._norm(x) @ w["up"]) @ w["down"]
        slab.commit(b, n)
        return self._norm(x) @ self.tok.T

    def prefill(self, prompts, slab=None, chunk=None):
        """Ragged prompts (lists of ids) -> (last logits (B, vocab), slab)."""
        slab = slab if slab is not None else self.new_slab(len(prompts))
        last = []
        for b, ids in enumerate(prompts):
            step = chunk or len(ids)
            for i in range(0, len(ids), step):
                logits = self.feed(slab, b, ids[i:i + step])
            last.append(logits[-1])
        return np.stack(last), slab

    def decode(self, slab, ids, active=None):
        """One id per row; rows that are not active are left alone, their logits are NaN.

        All or nothing: if one active row is full, no row is advanced.
        """
        full = [b for b in range(len(ids)) if (active is None or active[b])
                and slab.lengths[b] >= slab.capacity]
        if full:
            raise SlabFull(f"sequences {full} are at the capacity of {slab.capacity}")
        out = np.full((len(ids), self.cfg.vocab), np.nan, self.dtype)
        for b, t in enumerate(ids):
            if active is None or active[b]:
                out[b] = self.feed(slab, b, [t])[0]
        return out


def memory_report(cfg, bytes_per_value=2, gpu_bytes=80 * 10 ** 9, weights_bytes=0, batch=1):
    """Closed forms; gpu_bytes is plain bytes, so GB or GiB is the caller's word."""
    per_token = 2 * cfg.layers * cfg.kv_heads * cfg.head_dim * bytes_per_value
    return {"bytes_per_token": per_token,
            "max_context": max(0, gpu_bytes - weights_bytes) // (per_token * batch)}
