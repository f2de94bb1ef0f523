# bug: a step does not see the token that it has just written
# caught by: incremental_equals_full
from dataclasses import dataclass

import numpy as np


@dataclass
class Args:
    dim: int = 64
    n_heads: int = 4
    max_seq_len: int = 128
    max_batch_size: int = 4


def turned(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    c, s = cos[:, None], sin[:, None]
    return np.stack([a * c - b * s, a * s + b * c], -1).reshape(x.shape)


class RotaryAttention:
    def __init__(self, q_weight, k_weight, v_weight, o_weight, args: Args):
        self.q, self.k, self.v, self.o = q_weight, k_weight, v_weight, o_weight
        self.heads = args.n_heads
        room = (args.max_batch_size, args.max_seq_len, args.n_heads, args.dim // args.n_heads)
        self.cache_k, self.cache_v = np.zeros(room), np.zeros(room)

    def __call__(self, x, start_pos, mask, freqs_cos, freqs_sin):
        b, t, e = x.shape
        q, k, v = ((x @ w).reshape(b, t, self.heads, -1) for w in (self.q, self.k, self.v))
        q, k = turned(q, freqs_cos, freqs_sin), turned(k, freqs_cos, freqs_sin)
        end = start_pos + t
        if end > self.cache_k.shape[1]:
            raise IndexError("the cache is full")
        self.cache_k[:b, start_pos:end], self.cache_v[:b, start_pos:end] = k, v
        seen = end if t > 1 else max(start_pos, 1)
        keys, values = self.cache_k[:b, :seen], self.cache_v[:b, :seen]
        mask = mask if t > 1 else None
        scores = np.einsum("bthd,bshd->bhts", q, keys) / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + mask
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("bhts,bshd->bthd", p / p.sum(-1, keepdims=True), values).reshape(b, t, e) @ self.o
