# style: a server whose lanes are taken by seat() and given back by leave(); a tick goes over lanes by number
# only: incremental_equals_full, variable_lengths, capacity, chunked_prefill
# passes: incremental_equals_full, variable_lengths, capacity, chunked_prefill
import numpy as np


class NotSeated(LookupError):
    """Nobody sits there."""


class AttentionLanes:
    """Keys and values of requests, a lane each: (layers, lanes, tokens, heads, width)."""

    def __init__(self, num_layers, num_heads, head_dim, lanes=8, max_tokens=128, dtype=np.float32):
        self.store = np.zeros((2, num_layers, lanes, max_tokens, num_heads, head_dim), dtype)
        self.lengths = np.zeros((num_layers, lanes), int)
        self.free = list(range(lanes))[::-1]

    def seat(self):
        """Take a lane that nobody sits in."""
        if not self.free:
            raise NotSeated("every lane is taken")
        lane = self.free.pop()
        self.lengths[:, lane] = 0
        return lane

    def leave(self, lane):
        self._seated([lane])
        self.free.append(lane)

    def _seated(self, lanes):
        for lane in lanes:
            if lane in self.free or not 0 <= lane < self.lengths.shape[1]:
                raise NotSeated(f"nobody sits in lane {lane}")

    def _room(self, layer, lanes, count):
        self._seated(lanes)
        full = [lane for lane in lanes if self.lengths[layer, lane] + count > self.store.shape[3]]
        if full:
            raise OverflowError(f"{count} tokens do not fit into lanes {full}")

    def write(self, layer, lane, k, v):
        """Append (n, heads, width) keys and values to a lane."""
        self._room(layer, [lane], len(k))
        here = slice(self.lengths[layer, lane], self.lengths[layer, lane] + len(k))
        self.store[0, layer, lane, here], self.store[1, layer, lane, here] = k, v
        self.lengths[layer, lane] += len(k)

    def read(self, layer, lane):
        self._seated([lane])
        keys, values = self.store[:, layer, lane, : self.lengths[layer, lane]]
        return keys.copy(), values.copy()

    def prefill(self, layer, lane, q, k, v, chunk=None):
        """A prompt, (n, heads, width), or more of it: attends causally behind what the lane holds."""
        self._room(layer, [lane], len(k))
        out = np.empty_like(q)
        for start in range(0, len(q), chunk or len(q)):
            part = slice(start, start + (chunk or len(q)))
            self.write(layer, lane, k[part], v[part])
            out[part] = self._attend(q[part], *self.read(layer, lane))
        return out

    def tick(self, layer, lanes, q, k, v):
        """A token of each of these lanes, row i for lanes[i]: (n, heads, width); all of them or none."""
        self._room(layer, lanes, 1)
        out = np.empty_like(q)
        for row, lane in enumerate(lanes):
            self.write(layer, lane, k[row, None], v[row, None])
            out[row] = self._attend(q[row, None], *self.read(layer, lane))[0]
        return out

    @staticmethod
    def _attend(q, k, v):
        behind = len(k) - len(q)
        scores = np.einsum("nhd,mhd->hnm", q, k) / np.sqrt(q.shape[-1])
        scores = np.where(np.tri(len(q), len(k), behind, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("hnm,mhd->nhd", weights / weights.sum(-1, keepdims=True), v).astype(q.dtype)
