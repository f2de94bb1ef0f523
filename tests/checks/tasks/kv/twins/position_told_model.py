# style: a model of one call, told its position, with grouped heads, rotary positions and caches of its own
# passes: gqa
# skips: variable_lengths
# passes: capacity
# skips: paged, quantized, memory_model, purity
import numpy as np
from dataclasses import dataclass

@dataclass
class ModelArgs:
    dim: int = 64
    n_layers: int = 2
    n_heads: int = 4
    n_kv_heads: int = 2
    vocab_size: int = 100
    max_batch_size: int = 4
    max_seq_len: int = 64
    norm_eps: float = 1e-5

def rms(x, eps): return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)

def rope(x, start):
    B, T, H, D = x.shape
    f = 10000.0 ** (-np.arange(0, D, 2) / D)
    t = np.arange(start, start + T)[:, None] * f
    c, s = np.cos(t)[None, :, None], np.sin(t)[None, :, None]
    a, b = x[..., ::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., ::2], out[..., 1::2] = a * c - b * s, a * s + b * c
    return out

class Attention:
    def __init__(self, args, rng):
        self.h, self.kv, self.d = args.n_heads, args.n_kv_heads, args.dim // args.n_heads
        w = lambda i, o: rng.normal(0, i ** -0.5, (i, o)).astype(np.float32)
        self.wq, self.wk, self.wv, self.wo = w(args.dim, self.h * self.d), w(args.dim, self.kv * self.d), w(args.dim, self.kv * self.d), w(self.h * self.d, args.dim)
        self.cache_k = np.zeros((args.max_batch_size, args.max_seq_len, self.kv, self.d), np.float32)
        self.cache_v = np.zeros_like(self.cache_k)

    def forward(self, x, start_pos):
        B, T, _ = x.shape
        q = rope((x @ self.wq).reshape(B, T, self.h, self.d), start_pos)
        k = rope((x @ self.wk).reshape(B, T, self.kv, self.d), start_pos)
        v = (x @ self.wv).reshape(B, T, self.kv, self.d)
        self.cache_k[:B, start_pos:start_pos + T] = k
        self.cache_v[:B, start_pos:start_pos + T] = v
        n = start_pos + T
        k = np.repeat(self.cache_k[:B, :n], self.h // self.kv, 2)
        v = np.repeat(self.cache_v[:B, :n], self.h // self.kv, 2)
        s = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(self.d)
        s = s + np.triu(np.full((T, n), -np.inf), 1 + start_pos)
        p = np.exp(s - s.max(-1, keepdims=True)); p /= p.sum(-1, keepdims=True)
        return np.einsum("bhts,bshd->bthd", p, v).reshape(B, T, -1) @ self.wo

class Transformer:
    def __init__(self, args: ModelArgs, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.args = args
        self.emb = rng.normal(0, 1, (args.vocab_size, args.dim)).astype(np.float32)
        self.layers = [Attention(args, rng) for _ in range(args.n_layers)]
        self.out = rng.normal(0, args.dim ** -0.5, (args.dim, args.vocab_size)).astype(np.float32)

    def forward(self, tokens, start_pos):
        x = self.emb[tokens]
        for l in self.layers:
            x = x + l.forward(rms(x, self.args.norm_eps), start_pos)
        return rms(x, self.args.norm_eps) @ self.out
