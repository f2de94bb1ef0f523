# right: two layers whose caller says what each token sees; without a mask a call sees everything
# only: incremental_equals_full, growth
import numpy as np


class Attention:
    def __init__(self, embed_dim, num_heads, rng):
        self.heads = num_heads
        self.proj = rng.standard_normal((4, embed_dim, embed_dim)) * embed_dim**-0.5

    def __call__(self, x, mask, held):
        b, t, e = x.shape
        q, k, v = ((x @ w).reshape(b, t, self.heads, -1).transpose(0, 2, 1, 3) for w in self.proj[:3])
        if held is not None:
            k, v = np.concatenate([held[0], k], 2), np.concatenate([held[1], v], 2)
        scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores + mask
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return (p / p.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(b, t, e) @ self.proj[3], (k, v)


class DecoderStack:
    def __init__(self, embed_dim, num_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.layers = [Attention(embed_dim, num_heads, rng) for _ in range(2)]

    def forward(self, x, mask=None, kv_cache=None):
        kept = []
        for index, layer in enumerate(self.layers):
            y, pair = layer(x, mask, kv_cache[index] if kv_cache else None)
            x, kept = x + y, [*kept, pair]
        return x, kept
