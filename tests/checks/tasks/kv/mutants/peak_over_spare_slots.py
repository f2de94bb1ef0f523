# bug: a step's largest score is taken over all slots, those that hold nothing too, before they are masked
# caught by: isolation
# passes: incremental_equals_full, variable_lengths
import numpy as np


class SlotDecoder:
    """A decoder of two layers over hidden vectors; a row of the batch has a slot of ``max_seq_len`` places."""

    def __init__(self, d_model, num_heads, max_seq_len=64, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.room = num_heads, max_seq_len
        self.w = rng.normal(0, d_model**-0.5, (2, 4, d_model, d_model))
        self.places = rng.normal(0, 0.3, (max_seq_len, d_model))

    def new_cache(self, batch_size):
        width = self.places.shape[1] // self.heads
        keys = np.zeros((2, batch_size, self.heads, self.room, width))
        return {"k": keys, "v": keys.copy(), "lengths": np.zeros(batch_size, int)}

    def prefill(self, x, cache, lengths=None):
        """(B, T, E), of which the first ``lengths[b]`` are real."""
        real = np.full(len(x), x.shape[1]) if lengths is None else np.asarray(lengths)
        out = np.zeros_like(x, dtype=float)
        for b, count in enumerate(real):
            start = cache["lengths"][b]
            end = start + count
            if end > self.room:
                raise OverflowError(f"row {b} would hold {end} of {self.room}")
            h = x[b, :count] + self.places[start:end]
            seen = np.tri(count, end, start, dtype=bool)
            for layer, (wq, wk, wv, wo) in enumerate(self.w):
                q, k, v = (self._split(h @ w) for w in (wq, wk, wv))
                cache["k"][layer, b, :, start:end], cache["v"][layer, b, :, start:end] = k, v
                s = q @ cache["k"][layer, b, :, :end].swapaxes(1, 2) / np.sqrt(q.shape[-1])
                s = np.where(seen, s, -np.inf)
                p = np.exp(s - s.max(-1, keepdims=True))
                mixed = (p / p.sum(-1, keepdims=True)) @ cache["v"][layer, b, :, :end]
                h = h + mixed.swapaxes(0, 1).reshape(count, -1) @ wo
            out[b, :count] = h
            cache["lengths"][b] = end
        return out

    def _split(self, h):
        return h.reshape(len(h), self.heads, -1).swapaxes(0, 1)

    def decode_step(self, x, cache):
        """(B, E): the next token of every row, all of them at once."""
        rows, at = np.arange(len(x)), cache["lengths"]
        if at.max() >= self.room:
            raise OverflowError(f"a row holds {self.room} already")
        h = x + self.places[at]
        held = np.arange(self.room) <= at[:, None]
        for layer, (wq, wk, wv, wo) in enumerate(self.w):
            q, k, v = ((h @ w).reshape(len(x), self.heads, -1) for w in (wq, wk, wv))
            cache["k"][layer, rows, :, at], cache["v"][layer, rows, :, at] = k, v
            s = np.einsum("bhd,bhsd->bhs", q, cache["k"][layer]) / np.sqrt(q.shape[-1])
            p = np.exp(s - s.max(-1, keepdims=True)) * held[:, None]
            p /= p.sum(-1, keepdims=True)
            h = h + np.einsum("bhs,bhsd->bhd", p, cache["v"][layer]).reshape(len(x), -1) @ wo
        cache["lengths"] = at + 1
        return h
