# style: model and cache are made of the same object of sizes; the model's one call answers for the last position
# only: incremental_equals_full, growth, gqa
from dataclasses import dataclass

import numpy as np


@dataclass
class ModelArgs:
    dim: int = 24
    n_layers: int = 2
    n_heads: int = 6
    n_kv_heads: int = 3
    vocab_size: int = 47
    max_seq_len: int = 64

    @property
    def head_dim(self) -> int:
        return self.dim // self.n_heads


class KVCache:
    def __init__(self, args: ModelArgs, batch_size: int = 1):
        shape = (args.n_layers, 2, batch_size, args.max_seq_len, args.n_kv_heads, args.head_dim)
        self.store, self.length = np.zeros(shape), 0


class Llama:
    def __init__(self, args: ModelArgs, seed: int = 0):
        self.args, rng = args, np.random.default_rng(seed)
        shared = args.n_kv_heads * args.head_dim
        self.tok_embeddings = rng.normal(size=(args.vocab_size, args.dim))
        self.layers = [
            {
                name: rng.normal(size=(args.dim, out)) / np.sqrt(args.dim)
                for name, out in (("wq", args.dim), ("wk", shared), ("wv", shared), ("wo", args.dim))
            }
            for _ in range(args.n_layers)
        ]

    def forward(self, tokens, cache):
        """tokens (B, T): logits (B, vocab_size) behind the last of them."""
        tokens = np.atleast_2d(tokens)
        (batch, count), start, args = tokens.shape, cache.length, self.args
        end = start + count
        if end > args.max_seq_len:
            raise ValueError(f"{end} tokens do not fit into {args.max_seq_len}")
        x = self.tok_embeddings[tokens]
        for layer, kept in zip(self.layers, cache.store, strict=True):
            h = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + 1e-6)
            q, k, v = ((h @ layer[w]).reshape(batch, count, -1, args.head_dim) for w in ("wq", "wk", "wv"))
            kept[0, :, start:end], kept[1, :, start:end] = self._turn(k, start), v
            keys, values = (np.repeat(side[:, :end], args.n_heads // args.n_kv_heads, axis=2) for side in kept)
            scores = np.einsum("bthd,bshd->bhts", self._turn(q, start), keys) / np.sqrt(args.head_dim)
            scores[..., ~np.tri(count, end, start, dtype=bool)] = -np.inf
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            x = x + np.einsum("bhts,bshd->bthd", p, values).reshape(batch, count, -1) @ layer["wo"]
        cache.length = end
        return x[:, -1] @ self.tok_embeddings.T

    @staticmethod
    def _turn(x, start):
        count, half = x.shape[1], x.shape[-1] // 2
        angle = np.arange(start, start + count)[:, None, None] / 1000.0 ** (np.arange(half) / half)
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = np.empty_like(x)
        turned[..., 0::2] = even * np.cos(angle) - odd * np.sin(angle)
        turned[..., 1::2] = even * np.sin(angle) + odd * np.cos(angle)
        return turned
