# bug: a decode step gets the position of the token before it
# caught by: incremental_equals_full
"""A small decoder-only transformer with a KV cache and greedy generation."""

import numpy as np


def layer_norm(x, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mu) / np.sqrt(var + eps)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))


class Block:
    def __init__(self, d_model, n_heads, rng):
        self.n_heads = n_heads
        s = d_model**-0.5
        self.qkv = rng.normal(0, s, (d_model, 3 * d_model))
        self.proj = rng.normal(0, s, (d_model, d_model))
        self.up = rng.normal(0, s, (d_model, 4 * d_model))
        self.down = rng.normal(0, s / 2, (4 * d_model, d_model))

    def __call__(self, x, past):
        b, t, d = x.shape
        h = layer_norm(x)
        q, k, v = np.split(h @ self.qkv, 3, axis=-1)
        q, k, v = (a.reshape(b, t, self.n_heads, -1).transpose(0, 2, 1, 3) for a in (q, k, v))
        if past is not None:
            k = np.concatenate([past[0], k], axis=2)
            v = np.concatenate([past[1], v], axis=2)
        s = k.shape[2]
        att = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
        att = att + np.triu(np.full((t, s), -1e10), k=1 + s - t)
        y = (softmax(att) @ v).transpose(0, 2, 1, 3).reshape(b, t, d)
        x = x + y @ self.proj
        return x + gelu(layer_norm(x) @ self.up) @ self.down, (k, v)


class TinyGPT:
    def __init__(self, vocab_size=64, d_model=32, n_heads=4, n_layers=2, max_seq_len=64, seed=0):
        rng = np.random.default_rng(seed)
        self.vocab_size = vocab_size
        self.max_seq_len = max_seq_len
        self.wte = rng.normal(0, 0.5, (vocab_size, d_model))
        self.wpe = rng.normal(0, 0.5, (max_seq_len, d_model))
        self.blocks = [Block(d_model, n_heads, rng) for _ in range(n_layers)]

    def forward(self, ids, past_key_values=None):
        """ids (B, T) int -> (logits (B, T, V), past_key_values)."""
        ids = np.asarray(ids)
        t = ids.shape[1]
        if past_key_values is None:
            start = 0
            past_key_values = [None] * len(self.blocks)
        else:
            start = past_key_values[0][0].shape[2] - 1
        if start + t > self.max_seq_len:
            raise ValueError("sequence too long")
        x = self.wte[ids] + self.wpe[start : start + t]
        presents = []
        for block, past in zip(self.blocks, past_key_values):
            x, present = block(x, past)
            presents.append(present)
        return layer_norm(x) @ self.wte.T, presents

    def generate(self, prompt_ids, max_new_tokens):
        """Greedy decoding; returns (B, T + max_new_tokens)."""
        ids = np.asarray(prompt_ids)
        logits, past = self.forward(ids)
        for _ in range(max_new_tokens):
            nxt = logits[:, -1].argmax(-1)[:, None]
            ids = np.concatenate([ids, nxt], axis=1)
            logits, past = self.forward(nxt, past)
        return ids
