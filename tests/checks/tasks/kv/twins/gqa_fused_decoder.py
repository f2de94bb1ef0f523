# right: a decoder with shared heads, one matrix for queries, keys and values, and rotary positions
# passes: gqa
# skips: isolation (the cache is inside), capacity (the cache is inside), variable_lengths (takes no lengths)
import numpy as np


def rotate(x, start):
    half = x.shape[-1] // 2
    angle = (start + np.arange(x.shape[2]))[:, None] / 100.0 ** (np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], -1)


class Block:
    def __init__(self, rng, width, heads, shared):
        self.heads, self.shared, self.d = heads, shared, width // heads
        self.qkv = rng.normal(size=(width, (heads + 2 * shared) * self.d)) / np.sqrt(width)
        self.out = rng.normal(size=(width, width)) / np.sqrt(width)

    def __call__(self, x, memory):
        B, T, E = x.shape
        y = (x @ self.qkv).reshape(B, T, -1, self.d).swapaxes(1, 2)
        q, k, v = np.split(y, [self.heads, self.heads + self.shared], axis=1)
        start = memory["k"].shape[2] if memory else 0
        q, k = rotate(q, start), rotate(k, start)
        if memory:
            k, v = np.concatenate([memory["k"], k], 2), np.concatenate([memory["v"], v], 2)
        memory.update(k=k, v=v)
        q = q.reshape(B, self.shared, -1, T, self.d)
        s = q @ k[:, :, None].swapaxes(3, 4) / np.sqrt(self.d)
        s = np.where(np.tri(T, k.shape[2], start, dtype=bool), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        o = (p / p.sum(-1, keepdims=True) @ v[:, :, None]).reshape(B, self.heads, T, self.d)
        return x + o.swapaxes(1, 2).reshape(B, T, E) @ self.out


class GQADecoder:
    def __init__(self, vocab, d_model, num_heads, num_query_groups, num_layers, seed=0):
        rng = np.random.default_rng(seed)
        self.emb = rng.normal(size=(vocab, d_model))
        self.blocks = [Block(rng, d_model, num_heads, num_query_groups) for _ in range(num_layers)]
        self.memory = []

    def prefill(self, prompt_ids):
        self.memory = [{} for _ in self.blocks]
        return self.decode(prompt_ids)

    def decode(self, ids):
        ids = np.asarray(ids)
        x = self.emb[ids if ids.ndim == 2 else ids[:, None]]
        for block, memory in zip(self.blocks, self.memory):
            x = block(x, memory)
        return x[:, -1] @ self.emb.T
