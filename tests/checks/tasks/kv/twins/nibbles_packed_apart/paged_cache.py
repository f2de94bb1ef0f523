# right: asymmetric codes of sealed pages; nibbles are put into bytes by a function of their own
# only: quantized
# passes: quantized
"""
Paged, quantized KV cache (KIVI-style).

Tokens of a sequence first land in a small full-precision *tail*.  As soon as
``page_size`` tokens are there, they are sealed: a page is taken from the
shared pool and the tokens are stored in it as INT8 or INT4 codes,

* keys   per channel  (one scale per head and channel, over the page's tokens)
* values per token    (one scale per token and head, over the channels).

So the most recent tokens are always exact, and a page is quantized exactly
once - codes are never re-quantized when later tokens arrive.  A page that is
given back is only ever read again after a seal has overwritten all of it.

All arrays are token-first: (tokens, kv_heads, head_dim).
"""

from collections import deque

import numpy as np

from quant import dequantize, pack_nibbles, quantize, unpack_nibbles


class OutOfPages(MemoryError):
    """The pool has too few free pages for the requested write."""


class _Sequence:
    """Book-keeping of one sequence: its page table and its exact tail."""

    __slots__ = ("pages", "tail_k", "tail_v", "tail_len")

    def __init__(self, page_size, heads, dim):
        self.pages = []
        self.tail_k = np.zeros((page_size, heads, dim), np.float32)
        self.tail_v = np.zeros((page_size, heads, dim), np.float32)
        self.tail_len = 0


class PagedQuantCache:
    """One attention layer's cache for any number of sequences.

    Args:
        num_pages: pages in the shared pool.
        page_size: tokens per page (and size of the exact tail).
        kv_heads, head_dim: shape of one token's keys / values.
        bits: 8 or 4.
    """

    def __init__(self, num_pages, page_size, kv_heads, head_dim, bits=8):
        if bits not in (4, 8):
            raise ValueError("bits must be 4 or 8")
        if min(page_size, kv_heads, head_dim) < 1 or num_pages < 0:
            raise ValueError("sizes must be positive")
        self.page_size, self.kv_heads, self.head_dim, self.bits = page_size, kv_heads, head_dim, bits
        width = head_dim if bits == 8 else (head_dim + 1) // 2
        self.k_codes = np.zeros((num_pages, page_size, kv_heads, width), np.uint8)
        self.v_codes = np.zeros_like(self.k_codes)
        # [..., 0, :] = scale, [..., 1, :] = low
        self.k_meta = np.zeros((num_pages, 2, kv_heads, head_dim), np.float32)
        self.v_meta = np.zeros((num_pages, 2, page_size, kv_heads), np.float32)
        self._free = deque(range(num_pages))
        self._seqs = {}
        self._next_id = 0

    # ------------------------------------------------------------- sequences
    def open(self):
        """Start an empty sequence and return its id (ids are never reused)."""
        sid = self._next_id
        self._next_id += 1
        self._seqs[sid] = _Sequence(self.page_size, self.kv_heads, self.head_dim)
        return sid

    def close(self, sid):
        """Drop a sequence and return its pages to the pool."""
        self._free.extend(self._lookup(sid).pages)
        del self._seqs[sid]

    def length(self, sid):
        seq = self._lookup(sid)
        return len(seq.pages) * self.page_size + seq.tail_len

    @property
    def free_pages(self):
        return len(self._free)

    def _lookup(self, sid):
        try:
            return self._seqs[sid]
        except KeyError:
            raise KeyError(f"unknown or closed sequence {sid}") from None

    # ---------------------------------------------------------------- writes
    def step(self, sid, k, v):
        """Append a single token; k, v: (kv_heads, head_dim)."""
        self.extend(sid, np.asarray(k)[None], np.asarray(v)[None])

    def extend(self, sid, k, v):
        """Append T tokens; k, v: (T, kv_heads, head_dim). All or nothing."""
        k = np.asarray(k, dtype=np.float32)
        v = np.asarray(v, dtype=np.float32)
        if k.shape != v.shape or k.ndim != 3 or k.shape[1:] != (self.kv_heads, self.head_dim):
            raise ValueError(f"expected (T, {self.kv_heads}, {self.head_dim}), got {k.shape} and {v.shape}")
        seq = self._lookup(sid)
        to_seal = (seq.tail_len + len(k)) // self.page_size
        if to_seal > len(self._free):
            raise OutOfPages(f"sequence {sid}: {to_seal} pages needed, {len(self._free)} free")
        done = 0
        while done < len(k):
            n = min(self.page_size - seq.tail_len, len(k) - done)
            seq.tail_k[seq.tail_len:seq.tail_len + n] = k[done:done + n]
            seq.tail_v[seq.tail_len:seq.tail_len + n] = v[done:done + n]
            seq.tail_len += n
            done += n
            if seq.tail_len == self.page_size:
                self._seal(seq)

    def _seal(self, seq):
        page = self._free.popleft()
        kc, ks, kl = quantize(seq.tail_k, self.bits, axis=0)       # (1, H, D)
        vc, vs, vl = quantize(seq.tail_v, self.bits, axis=-1)      # (P, H, 1)
        if self.bits == 4:
            kc, vc = pack_nibbles(kc), pack_nibbles(vc)
        self.k_codes[page], self.v_codes[page] = kc, vc
        self.k_meta[page, 0], self.k_meta[page, 1] = ks[0], kl[0]
        self.v_meta[page, 0], self.v_meta[page, 1] = vs[..., 0], vl[..., 0]
        seq.pages.append(page)
        seq.tail_len = 0

    # ----------------------------------------------------------------- reads
    def gather(self, sid):
        """Return fresh float32 arrays (k, v), each (length, kv_heads, head_dim)."""
        seq = self._lookup(sid)
        idx = np.asarray(seq.pages, dtype=np.int64)
        kc, vc = self.k_codes[idx], self.v_codes[idx]              # (n, P, H, W)
        if self.bits == 4:
            kc, vc = unpack_nibbles(kc, self.head_dim), unpack_nibbles(vc, self.head_dim)
        km, vm = self.k_meta[idx], self.v_meta[idx]
        k = dequantize(kc, km[:, 0][:, None], km[:, 1][:, None])
        v = dequantize(vc, vm[:, 0][..., None], vm[:, 1][..., None])
        shape = (-1, self.kv_heads, self.head_dim)
        if not len(idx):
            k = v = np.zeros((0,) + shape[1:], np.float32)
        return (np.concatenate([k.reshape(shape), seq.tail_k[:seq.tail_len]]),
                np.concatenate([v.reshape(shape), seq.tail_v[:seq.tail_len]]))

    # ------------------------------------------------------------- attention
    def attend(self, sid, q):
        """Causal attention of the newest T tokens of a sequence.

        q: (T, q_heads, head_dim), for the last T cached tokens in order (their
        keys and values have been appended). Consecutive groups of
        ``q_heads // kv_heads`` query heads share a kv head.
        """
        q = np.asarray(q, dtype=np.float32)
        t, hq, d = q.shape
        k, v = self.gather(sid)
        n = len(k)
        if t > n:
            raise ValueError(f"{t} queries but only {n} cached tokens")
        if hq % self.kv_heads or d != self.head_dim:
            raise ValueError(f"queries {q.shape} do not match the cache")
        qg = q.reshape(t, self.kv_heads, hq // self.kv_heads, d)
        s = np.einsum("thgd,nhd->hgtn", qg, k) / np.float32(np.sqrt(d))
        hidden = np.arange(n)[None, :] > (n - t + np.arange(t))[:, None]
        s = np.where(hidden, -np.inf, s)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return np.einsum("hgtn,nhd->thgd", p, v).reshape(t, hq, d)

    def decode_batch(self, sids, q, k, v):
        """One decoding step for many sequences of unequal length.

        q: (B, q_heads, head_dim); k, v: (B, kv_heads, head_dim). Appends the
        new token of each (distinct) sequence and returns (B, q_heads, head_dim).
        """
        if len(set(sids)) != len(sids):
            raise ValueError("a sequence appears twice in the batch")
        sealing = sum(self._lookup(s).tail_len == self.page_size - 1 for s in sids)
        if sealing > len(self._free):
            raise OutOfPages(f"step needs {sealing} pages, {len(self._free)} free")
        for sid, kk, vv in zip(sids, k, v):
            self.step(sid, kk, vv)
        return np.stack([self.attend(sid, qq[None])[0] for sid, qq in zip(sids, q)])

    # ---------------------------------------------------------------- memory
    def memory(self):
        """Bytes in the pool (codes, scales) and in the exact tails, and the
        ratio of an fp16 page to a quantized page."""
        codes = self.k_codes.nbytes + self.v_codes.nbytes
        meta = self.k_meta.nbytes + self.v_meta.nbytes
        tails = sum(s.tail_k.nbytes + s.tail_v.nbytes for s in self._seqs.values())
        fp16 = 2 * 2 * len(self.k_codes) * self.page_size * self.kv_heads * self.head_dim
        return {"codes": codes, "scales": meta, "tails": tails,
                "compression": fp16 / (codes + meta) if codes else 1.0}
