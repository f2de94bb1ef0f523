# right: a class that is called no cache; every token takes any row of one pool, all layers at once
# only: incremental_equals_full, variable_lengths, capacity, gqa, quantized
"""KV cache as a shared row log: one token of one sequence = one row.

There is no batch axis and no block.  Every token of every sequence takes any
spare row of one pool; a sequence is the ordered list of its rows (4 bytes a
token).  So nothing is padded, and a freed sequence's rows are usable at once.
The pool doubles when it is full, unless `max_rows` forbids it.

Optionally the rows are int8 with one float32 scale per token, layer, head.
Run this file to see the checks.
"""
from array import array

import numpy as np


class RowLog:
    """Keys may be any hashable names: `log.extend("user-7", k, v)` creates it.

    k and v are (layers, T, kv_heads, dim): all layers at once.
    """

    def __init__(self, layers, kv_heads, dim, *, int8=False, dtype=np.float64,
                 rows=8, max_rows=None):
        self.layers, self.kv_heads, self.dim = layers, kv_heads, dim
        self.int8, self.dtype, self.max_rows = int8, np.dtype(dtype), max_rows
        rows = rows if max_rows is None else min(rows, max_rows)
        self._pool = self._blank(rows)
        self._spare = list(range(rows))[::-1]
        self._of = {}

    def _blank(self, rows):
        shape = (2, self.layers, rows, self.kv_heads, self.dim)
        if not self.int8:
            return {"data": np.zeros(shape, self.dtype)}
        return {"data": np.zeros(shape, np.int8), "scale": np.zeros(shape[:-1], np.float32)}

    # ---- the life of a sequence
    def extend(self, name, k, v):
        """Append T tokens; all or nothing."""
        kv = np.stack([np.asarray(k), np.asarray(v)])
        want = (2, self.layers, kv.shape[2], self.kv_heads, self.dim)
        if kv.shape != want:
            raise ValueError(f"k and v must be {want[1:]}, got {kv.shape[1:]}")
        rows = self._take(kv.shape[2])
        if self.int8:
            code, scale = quantize(kv)
            self._pool["data"][:, :, rows] = code
            self._pool["scale"][:, :, rows] = scale
        else:
            self._pool["data"][:, :, rows] = kv
        self._of.setdefault(name, array("i")).extend(rows)
        return self

    def drop(self, name):
        """Forget a sequence; KeyError if it is unknown (so also the second time)."""
        self._spare.extend(self._of.pop(name))

    def __len__(self):
        return sum(map(len, self._of.values()))

    def length(self, name):
        return len(self._of[name])

    def _take(self, count):
        short = count - len(self._spare)
        if short > 0:
            old = self._pool["data"].shape[2]
            new = max(2 * old, old + short)
            if self.max_rows is not None:
                new = min(new, self.max_rows)
            if new - old < short:
                raise MemoryError(f"{count} rows wanted, {len(self._spare) + new - old} to be had")
            bigger = self._blank(new)
            for key, arr in self._pool.items():
                bigger[key][:, :, :old] = arr
            self._pool = bigger
            self._spare[:0] = range(new - 1, old - 1, -1)
        return [self._spare.pop() for _ in range(count)]

    # ---- reading
    def read(self, name):
        """(k, v) in order, each (layers, T, kv_heads, dim), dequantized copies."""
        rows = np.frombuffer(self._of[name], np.intc) if self._of[name] else []
        got = self._pool["data"][:, :, rows]
        if self.int8:
            got = dequantize(got, self._pool["scale"][:, :, rows]).astype(self.dtype)
        return got[0], got[1]

    def attend(self, name, layer, q):
        """q (T, heads, dim) are the queries of the newest T tokens; returns the same shape."""
        rows = np.array(self._of[name], np.intp)
        kv = self._pool["data"][:, layer, rows]
        if self.int8:
            kv = dequantize(kv, self._pool["scale"][:, layer, rows]).astype(self.dtype)
        k, v = kv
        return grouped_attention(q, k, v)

    def step(self, names, k, v, q):
        """One token for many sequences: k, v (layers, n, kv_heads, dim), q (layers, n, heads, dim).

        Returns (layers, n, heads, dim).  Sequences that are not named are not touched.
        """
        names = list(names)
        if len(set(names)) != len(names):
            raise ValueError("a name occurs twice")
        out = np.empty(np.shape(q), np.result_type(q, self.dtype))
        for i, name in enumerate(names):
            self.extend(name, k[:, i:i + 1], v[:, i:i + 1])
            for layer in range(self.layers):
                out[layer, i] = self.attend(name, layer, q[layer, i:i + 1])[0]
        return out

    # ---- bytes
    def memory(self):
        """Allocated and used bytes, the row lists included in `used_index`."""
        total = sum(a.nbytes for a in self._pool.values())
        per_row = total // self._pool["data"].shape[2]
        return {"allocated": total, "per_token": per_row, "used": per_row * len(self),
                "used_index": 4 * len(self)}


def quantize(x):
    """absmax int8 over the last axis: (codes, float32 scales); zero rows get scale 0."""
    x = np.asarray(x, np.float64)
    scale = (np.abs(x).max(-1) / 127).astype(np.float32)
    safe = np.where(scale > 0, scale, 1).astype(np.float64)
    code = np.clip(np.rint(x / safe[..., None]), -127, 127)
    return code.astype(np.int8), scale


def dequantize(code, scale):
    return code.astype(np.float64) * scale[..., None].astype(np.float64)


def grouped_attention(q, k, v):
    """Causal, the last query at the last key; head h reads kv head h // (heads / kv_heads)."""
    (t, heads, dim), (s, kv_heads, _) = q.shape, k.shape
    if t > s or heads % kv_heads:
        raise ValueError(f"{t} queries of {heads} heads on {s} keys of {kv_heads}")
    a = q.reshape(t, kv_heads, -1, dim).transpose(1, 2, 0, 3)
    score = a @ k.transpose(1, 2, 0)[:, None] * q.dtype.type(dim ** -0.5)
    score = np.where(np.tri(t, s, s - t, dtype=bool), score, -np.inf)
    w = np.exp(score - score.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    return (w @ v.transpose(1, 0, 2)[:, None]).transpose(2, 0, 1, 3).reshape(t, heads, dim)


def _selfcheck():
    rng = np.random.default_rng(0)
    log, kept = RowLog(2, 2, 4), {}
    for n, name in zip((1, 8, 9, 5), "abcd"):
        k, v = rng.normal(size=(2, 2, n, 2, 4))
        q = rng.normal(size=(2, n, 6, 4))
        kept[name] = q, k, v
    for t in range(9):                                    # interleaved decoding
        on = [m for m in kept if kept[m][1].shape[1] > t]
        got = log.step(on, *(np.stack([kept[m][i][:, t] for m in on], 1) for i in (1, 2, 0)))
        for j, m in enumerate(on):
            q, k, v = kept[m]
            for layer in (0, 1):
                ref = grouped_attention(q[layer], k[layer], v[layer])[t]
                assert np.allclose(got[layer, j], ref, atol=1e-12)
    for _ in range(1000):
        log.drop("b")
        log.extend("b", *kept["b"][1:])
    assert np.array_equal(log.read("b")[0], kept["b"][1]) and len(log) == 23
    small = RowLog(2, 2, 4, int8=True)
    small.extend("x", *kept["c"][1:])
    err = np.abs(small.read("x")[0] - kept["c"][1]).max()
    assert err <= np.abs(kept["c"][1]).max() / 254 * 1.001
    print("ok", log.memory(), "int8 error", err)
