# style: one call named after a step takes prompt and token alike; a mask tells what is real of a prompt
# only: incremental_equals_full, variable_lengths, growth
import numpy as np


class KVCache:
    """Room for a batch; tokens stand where they came, and the mask remembers which are real."""

    def __init__(self, n_layers, batch, n_heads, max_len, head_dim, dtype=np.float32):
        self.k = np.zeros((n_layers, batch, n_heads, max_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.real = np.zeros((batch, max_len), bool)
        self.end = 0


class TinyLM:
    def __init__(self, vocab, d_model, n_heads, n_layers, max_len, seed=0, dtype=np.float32):
        rng = np.random.default_rng(seed)

        def draw(*shape):
            return (rng.normal(size=shape) / np.sqrt(d_model)).astype(dtype)

        self.n_heads, self.words = n_heads, 5 * draw(vocab, d_model)
        self.places = 5 * draw(max_len, d_model)
        self.layers = [tuple(draw(d_model, d_model) for _ in range(4)) for _ in range(n_layers)]

    def step(self, token_ids, cache, attention_mask=None):
        """Logits (B, T, vocab) of more tokens; the cache is filled in place."""
        batch, count = token_ids.shape
        here = slice(cache.end, cache.end + count)
        if here.stop > cache.k.shape[3]:
            raise ValueError("the cache has no room left")
        real = np.ones((batch, count), bool) if attention_mask is None else np.asarray(attention_mask, bool)
        place = cache.real.sum(axis=1, keepdims=True) + np.cumsum(real, axis=1) - 1
        cache.real[:, here] = real
        x = self.words[token_ids] + self.places[np.maximum(place, 0)]
        order = np.arange(here.stop) <= np.arange(here.start, here.stop)[:, None]
        visible = order & cache.real[:, None, : here.stop] | np.eye(count, here.stop, here.start, dtype=bool)
        for n, (wq, wk, wv, wo) in enumerate(self.layers):
            q, k, v = ((x @ w).reshape(batch, count, self.n_heads, -1).swapaxes(1, 2) for w in (wq, wk, wv))
            cache.k[n, :, :, here], cache.v[n, :, :, here] = k, v
            scores = q @ cache.k[n, :, :, : here.stop].swapaxes(2, 3) / np.sqrt(q.shape[-1]).astype(q.dtype)
            scores = np.where(visible[:, None], scores, -np.inf)
            p = np.exp(scores - scores.max(axis=-1, keepdims=True))
            p /= p.sum(axis=-1, keepdims=True)
            x = x + (p @ cache.v[n, :, :, : here.stop]).swapaxes(1, 2).reshape(batch, count, -1) @ wo
        cache.end = here.stop
        return x @ self.words.T
