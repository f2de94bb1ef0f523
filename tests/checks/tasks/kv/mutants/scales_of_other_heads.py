# bug: codes are repeated for shared heads, their scales are tiled: INT8 with fewer heads takes other heads' scales
# caught by: quantized
# passes: incremental_equals_full, gqa, isolation, capacity, variable_lengths
"""KV cache for autoregressive decoding, with an INT8 mode and grouped-query attention.

The INT8 mode stores codes (one scale per token and kv head, symmetric absmax / 127) and never rebuilds the
float cache: the key scales multiply the scores, the value scales multiply the probabilities, so attention
runs over the codes.
"""
import numpy as np


class CacheFull(Exception):
    pass


def quantize(x):
    """x (..., D) -> int8 codes (..., D), float32 scales (...)."""
    x = np.asarray(x, np.float32)
    scale = np.abs(x).max(axis=-1) / np.float32(127)
    safe = np.where(scale > 0, scale, np.float32(1))
    return np.clip(np.rint(x / safe[..., None]), -127, 127).astype(np.int8), scale


def dequantize(codes, scale):
    return codes.astype(np.float32) * scale[..., None]


class LayerKV:
    """One layer of a batch: (batch, num_kv_heads, max_len, head_dim)."""

    def __init__(self, batch, num_kv_heads, max_len, head_dim, dtype=np.float32, quantized=False):
        shape = (batch, num_kv_heads, max_len, head_dim)
        self.quantized, self.max_len = quantized, max_len
        store = np.int8 if quantized else dtype
        self.k, self.v = np.zeros(shape, store), np.zeros(shape, store)
        if quantized:
            self.k_scale, self.v_scale = np.zeros(shape[:3], np.float32), np.zeros(shape[:3], np.float32)
        self.seq_len = np.zeros(batch, int)

    def append(self, row, k, v):
        """Append k, v (num_kv_heads, T, head_dim) to one row."""
        a = self.seq_len[row]
        b = a + k.shape[1]
        if b > self.max_len:
            raise CacheFull(f"row {row}: {b} tokens > max_len {self.max_len}")
        if self.quantized:
            self.k[row, :, a:b], self.k_scale[row, :, a:b] = quantize(k)
            self.v[row, :, a:b], self.v_scale[row, :, a:b] = quantize(v)
        else:
            self.k[row, :, a:b], self.v[row, :, a:b] = k, v
        self.seq_len[row] = b

    def get(self, row):
        """Keys and values of one row as floats (dequantized in the INT8 mode)."""
        n = self.seq_len[row]
        if self.quantized:
            return (dequantize(self.k[row, :, :n], self.k_scale[row, :, :n]),
                    dequantize(self.v[row, :, :n], self.v_scale[row, :, :n]))
        return self.k[row, :, :n], self.v[row, :, :n]

    def clear(self, row):
        self.seq_len[row] = 0

    def nbytes(self):
        total = self.k.nbytes + self.v.nbytes
        return total + (self.k_scale.nbytes + self.v_scale.nbytes if self.quantized else 0)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class CachedAttention:
    """Attention against a LayerKV. q has num_heads heads, k and v have num_kv_heads."""

    def __init__(self, num_heads, num_kv_heads, head_dim):
        if num_heads % num_kv_heads:
            raise ValueError("num_heads must be divisible by num_kv_heads")
        self.num_heads, self.num_kv_heads, self.head_dim = num_heads, num_kv_heads, head_dim
        self.group = num_heads // num_kv_heads

    def _expand(self, x):
        """(num_kv_heads, ...) -> (num_heads, ...): query head h uses kv head h // group."""
        return np.repeat(x, self.group, axis=0)

    def _scores_to_output(self, q, cache, row):
        n, t = int(cache.seq_len[row]), q.shape[1]
        k, v = self._expand(cache.k[row, :, :n]), self._expand(cache.v[row, :, :n])
        if cache.quantized:
            k, v = k.astype(q.dtype), v.astype(q.dtype)
            # one scale per (head, key), broadcast over the queries
            ks = np.tile(cache.k_scale[row, :, :n], (self.group, 1))[:, None, :]
            vs = np.tile(cache.v_scale[row, :, :n], (self.group, 1))[:, None, :]
        else:
            ks = vs = None
        s = q @ k.transpose(0, 2, 1) / q.dtype.type(np.sqrt(self.head_dim))
        if ks is not None:
            s = s * ks
        future = np.arange(n)[None] > (n - t) + np.arange(t)[:, None]
        p = softmax(np.where(future, -np.inf, s))
        if vs is not None:
            p = p * vs
        return (p @ v).astype(q.dtype)

    def prefill(self, q, k, v, cache, lengths=None):
        """q (B, H, T, D), k, v (B, KVH, T, D); `lengths` marks right padding. Works in chunks too."""
        out = np.zeros_like(q)
        lengths = [q.shape[2]] * len(q) if lengths is None else lengths
        if (cache.seq_len + np.asarray(lengths) > cache.max_len).any():
            raise CacheFull(f"max_len {cache.max_len} would be exceeded")
        for b, n in enumerate(lengths):
            if n:
                cache.append(b, k[b, :, :n], v[b, :, :n])
                out[b, :, :n] = self._scores_to_output(q[b, :, :n], cache, b)
        return out

    def decode(self, q, k, v, cache):
        """One token: q (B, H, D), k, v (B, KVH, D) -> (B, H, D)."""
        return self.prefill(q[:, :, None], k[:, :, None], v[:, :, None], cache)[:, :, 0]


def attention_reference(q, k, v):
    """Full causal attention without a cache: q (B, H, T, D), k, v (B, KVH, T, D)."""
    g = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, g, 1), np.repeat(v, g, 1)
    s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    s = np.where(np.triu(np.ones(s.shape[-2:], bool), 1), -np.inf, s)
    return softmax(s) @ v


def kv_cache_bytes(num_layers, num_kv_heads, head_dim, seq_len, batch=1, mode="fp16"):
    per_head = {"fp32": 4 * head_dim, "fp16": 2 * head_dim, "int8": head_dim + 4}[mode]
    return 2 * num_layers * num_kv_heads * per_head * seq_len * batch


def max_context_length(gpu_bytes, num_layers, num_kv_heads, head_dim, batch=1, mode="fp16"):
    return int(gpu_bytes // kv_cache_bytes(num_layers, num_kv_heads, head_dim, 1, batch, mode))


# ------------------------------------------------------------------------------------------------ tests
def _run(h, kvh, quantized, T=24, start=9, D=32, seed=0, dtype=np.float32):
    r = np.random.default_rng(seed)
    q, k, v = (r.standard_normal((2, n, T, D)).astype(dtype) for n in (h, kvh, kvh))
    cache, att = LayerKV(2, kvh, T, D, dtype, quantized), CachedAttention(h, kvh, D)
    outs = [att.prefill(q[:, :, :start], k[:, :, :start], v[:, :, :start], cache)]
    for t in range(start, T):
        outs.append(att.decode(q[:, :, t], k[:, :, t], v[:, :, t], cache)[:, :, None])
    return np.concatenate(outs, 2), attention_reference(q, k, v), cache, q


def test_float_cache_is_exact():
    for kvh in (1, 2, 4):
        out, ref, _, _ = _run(4, kvh, False, dtype=np.float64)
        assert np.abs(out - ref).max() < 1e-12


def test_int8_equals_attention_over_dequantized():
    for h, kvh in ((4, 4), (4, 1)):
        out, _, cache, q = _run(h, kvh, True)
        kv = [np.stack(x) for x in zip(cache.get(0), cache.get(1))]
        assert np.abs(out - attention_reference(q, *kv)).max() < 1e-5


def test_int8_gqa_is_close_to_float():
    out, ref, _, _ = _run(8, 2, True)
    cos = (out * ref).sum() / np.sqrt((out ** 2).sum() * (ref ** 2).sum())
    assert cos > 0.95, cos


def test_quantizer():
    x = np.random.default_rng(1).standard_normal((3, 5, 16)).astype(np.float32)
    x[:, :, 3] *= 50
    x[1, 2] = 0
    c, s = quantize(x)
    assert (np.abs(dequantize(c, s) - x) <= s[..., None] * 0.5001).all()


def test_int8_saves_memory():
    assert LayerKV(1, 2, 64, 64, quantized=True).nbytes() < 0.6 * LayerKV(1, 2, 64, 64, np.float16).nbytes()
    assert kv_cache_bytes(32, 8, 128, 1) == 131072


def test_overflow():
    _, _, cache, q = _run(4, 4, False)
    try:
        CachedAttention(4, 4, 32).decode(q[:, :, 0], q[:, :, 0], q[:, :, 0], cache)
        raise AssertionError("no error")
    except CacheFull:
        assert (cache.seq_len == 24).all()


if __name__ == "__main__":
    for t in [f for n, f in sorted(globals().items()) if n.startswith("test_")]:
        t()
        print(t.__name__, "ok")
