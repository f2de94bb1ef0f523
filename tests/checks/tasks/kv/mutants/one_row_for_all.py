# bug: every sequence is written to the row that was given out last
# caught by: incremental_equals_full, variable_lengths
import numpy as np


class SequenceCache:
    """One row of a buffer per sequence; rows are given out when sequences begin."""

    def __init__(self, max_batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self._rows = list(range(max_batch_size))
        self._buffer = np.zeros((max_batch_size, 2, max_seq_len, num_heads, head_dim), dtype)
        self._open = {}

    def begin_sequence(self, request_id):
        if request_id in self._open:
            raise KeyError(f"{request_id} has begun already")
        self._open[request_id] = [self._rows.pop(), 0]

    def append(self, request_id, key, value):
        """(tokens, heads, width)"""
        row, used = min(self._open.values())[0], self._open[request_id][1]
        if used + len(key) > self._buffer.shape[2]:
            raise OverflowError(f"{request_id} is full")
        self._buffer[row, 0, used:used + len(key)] = key
        self._buffer[row, 1, used:used + len(key)] = value
        self._open[request_id][1] += len(key)

    def read(self, request_id):
        row, used = min(self._open.values())[0], self._open[request_id][1]
        return self._buffer[row, 0, :used], self._buffer[row, 1, :used]


def attend(query, cache, request_id):
    """(tokens, heads, width) of the newest tokens"""
    keys, values = cache.read(request_id)
    group = query.shape[1] // keys.shape[1]
    keys, values = np.repeat(keys, group, 1), np.repeat(values, group, 1)
    s = np.einsum("thd,shd->hts", query, keys) / np.sqrt(query.shape[-1])
    s = np.where(np.tri(len(query), len(keys), len(keys) - len(query)) > 0, s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hts,shd->thd", p / p.sum(-1, keepdims=True), values)
