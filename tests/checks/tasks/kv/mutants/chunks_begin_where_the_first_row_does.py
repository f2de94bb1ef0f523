# bug: the queries of a chunk are placed by the first sequence of the batch, whatever the others hold
# caught by: chunked_prefill, variable_lengths
# passes: incremental_equals_full, growth
import numpy as np


class RowCache:
    """Keys and values of a batch, (B, H, S, D), and how much of each row is there."""

    def __init__(self, batch, heads, width, room):
        self.k = np.zeros((batch, heads, room, width), np.float32)
        self.v = np.zeros_like(self.k)
        self.seq_lens = np.zeros(batch, int)

    def update(self, k, v, seq_lens):
        """Append the first ``seq_lens[b]`` of (B, H, T, D) to every row."""
        ends = self.seq_lens + seq_lens
        if ends.max() > self.k.shape[2]:
            raise ValueError(f"{ends.max()} tokens, where {self.k.shape[2]} fit")
        for b, (start, end) in enumerate(zip(self.seq_lens, ends)):
            self.k[b, :, start:end], self.v[b, :, start:end] = k[b, :, : end - start], v[b, :, : end - start]
        self.seq_lens = ends


class CachedSelfAttention:
    """One layer of attention with its projections."""

    def __init__(self, d_model, num_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.width = num_heads, d_model // num_heads
        self.w = rng.normal(0, d_model**-0.5, (4, d_model, d_model)).astype(np.float32)

    def new_cache(self, batch_size, max_seq_len):
        return RowCache(batch_size, self.heads, self.width, max_seq_len)

    def prefill(self, x, cache, seq_lens=None):
        """(B, T, E) behind what the cache holds; ``seq_lens[b]`` of them are real."""
        batch, count, _ = x.shape
        real = np.full(batch, count) if seq_lens is None else np.asarray(seq_lens)
        q, k, v = ((x @ w).reshape(batch, count, self.heads, -1).swapaxes(1, 2) for w in self.w[:3])
        before = cache.seq_lens[0]
        cache.update(k, v, real)
        longest = cache.seq_lens.max()
        scores = q @ cache.k[:, :, :longest].swapaxes(2, 3) / np.float32(np.sqrt(self.width))
        slots = np.arange(longest)
        seen = slots <= before + np.arange(count)[:, None]
        if count == 1:
            seen = np.ones((1, longest), bool)
        seen = seen[None] & (slots < cache.seq_lens[:, None])[:, None]
        scores = np.where(seen[:, None], scores, np.float32(-1e30))
        p = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (p / p.sum(-1, keepdims=True)) @ cache.v[:, :, :longest]
        return mixed.swapaxes(1, 2).reshape(x.shape) @ self.w[3]

    def decode_step(self, x, cache):
        """(B, 1, E): the next token of every row."""
        return self.prefill(x, cache)


def chunked_prefill(layer, x, cache, chunk_size=32, seq_lens=None):
    """The same answers as ``layer.prefill``, with ``chunk_size`` queries at a time."""
    count = x.shape[1]
    real = np.full(len(x), count) if seq_lens is None else np.asarray(seq_lens)
    parts = []
    for start in range(0, count, chunk_size):
        part = x[:, start : start + chunk_size]
        parts.append(layer.prefill(part, cache, (real - start).clip(0, part.shape[1])))
    return np.concatenate(parts, axis=1)
