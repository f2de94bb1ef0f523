# style: a buffer of lanes that functions are handed first; a step for the lanes that it names, a prompt for one
# passes: incremental_equals_full, variable_lengths, isolation, capacity, gqa, cache_size_minimality, growth
# skips: paged, quantized, memory_model
import numpy as np


class LaneBuffer:
    """rows (2, layers, lanes, capacity, kv_heads, head_dim): keys, then values; ends (layers, lanes)."""

    def __init__(self, num_layers, num_lanes, num_kv_heads, capacity, head_dim, dtype="float32"):
        self.rows = np.empty((2, num_layers, num_lanes, capacity, num_kv_heads, head_dim), dtype)
        self.ends = np.zeros((num_layers, num_lanes), np.int64)

    def room(self, layer, lane):
        return self.rows.shape[3] - self.ends[layer, lane]

    def put(self, layer, lane, k, v):
        """k, v (kv_heads, head_dim): one token."""
        if not self.room(layer, lane):
            raise MemoryError(f"lane {lane} is full")
        self.rows[:, layer, lane, self.ends[layer, lane]] = k, v
        self.ends[layer, lane] += 1

    def get(self, layer, lane):
        """Two (length, kv_heads, head_dim) views."""
        return tuple(self.rows[:, layer, lane, : self.ends[layer, lane]])


def head_shared_attend(q, k, v):
    """q (m, heads, d), the newest m; k, v (s, kv_heads, d)."""
    (m, heads, d), (s, shared, _) = q.shape, k.shape
    out = np.empty_like(q)
    hidden = ~np.tri(m, s, s - m, dtype=bool)
    for head in range(heads):
        own = head * shared // heads
        w = q[:, head] @ k[:, own].T / np.sqrt(q.dtype.type(d))
        w = np.exp(np.where(hidden, -np.inf, w) - w.max(1, keepdims=True))
        out[:, head] = w / w.sum(1, keepdims=True) @ v[:, own]
    return out


def prefill(buf, layer, lane, q, k, v):
    """q (n, heads, d), k, v (n, kv_heads, d) of one lane; returns like q."""
    if len(k) > buf.room(layer, lane):
        raise MemoryError(f"{len(k)} tokens, lane {lane} has room for {buf.room(layer, lane)}")
    for one in zip(k, v):
        buf.put(layer, lane, *one)
    return head_shared_attend(q, *buf.get(layer, lane))


def decode(buf, layer, lanes, q, k, v):
    """One token for every lane that is named: q (b, heads, d), k, v (b, kv_heads, d)."""
    full = [lane for lane in lanes if not buf.room(layer, lane)]
    if full:
        raise MemoryError(f"lanes {full} are full")
    for at, lane in enumerate(lanes):
        buf.put(layer, lane, k[at], v[at])
    answers = [head_shared_attend(q[at : at + 1], *buf.get(layer, lane)) for at, lane in enumerate(lanes)]
    return np.concatenate(answers)
