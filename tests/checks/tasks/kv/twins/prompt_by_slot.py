# right: a prompt goes into one slot, steps go over all slots; (tokens, heads, width), lengths are the object's
import numpy as np


class SlotCache:
    def __init__(self, batch, heads, max_tokens, head_dim, dtype="float32"):
        self.kv = np.zeros((2, batch, max_tokens, heads, head_dim), dtype)
        self.filled = [0] * batch

    def _room(self, slot, more):
        if self.filled[slot] + more > self.kv.shape[2]:
            raise IndexError(f"slot {slot} has no room for {more} more")
        return slice(self.filled[slot], self.filled[slot] + more)

    def _look(self, slot, queries, n):
        keys, values = self.kv[:, slot, :n]
        first = n - len(queries)
        scores = np.einsum("thd,shd->ths", queries, keys) / np.sqrt(keys.shape[-1])
        for t in range(len(queries)):
            scores[t, :, first + t + 1:] = -np.inf
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("ths,shd->thd", scores / scores.sum(-1, keepdims=True), values)

    def prefill(self, slot, q, k, v):
        """(tokens, heads, width) of one slot"""
        at = self._room(slot, len(k))
        self.kv[0, slot, at], self.kv[1, slot, at] = k, v
        self.filled[slot] = at.stop
        return self._look(slot, q, at.stop)

    def decode_step(self, q, k, v):
        """(slots, heads, width): one token of every slot; all of them or none"""
        places = [self._room(slot, 1) for slot in range(len(k))]
        for slot, at in enumerate(places):
            self.kv[0, slot, at], self.kv[1, slot, at] = k[slot], v[slot]
            self.filled[slot] = at.stop
        return np.stack([self._look(b, q[b][None], n)[0] for b, n in enumerate(self.filled[:len(q)])])
