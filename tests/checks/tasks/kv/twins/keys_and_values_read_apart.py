# style: tokens stand before layers, and keys are read with one call, values with another
# only: capacity, isolation, growth, cache_size_minimality
import numpy as np


class KVCache:
    """Keys and values of all layers, token by token."""

    def __init__(self, max_tokens, num_layers, batch_size, num_heads, head_dim):
        self._room = np.zeros((2, max_tokens, num_layers, batch_size, num_heads, head_dim), np.float32)
        self._used = 0

    def append(self, keys, values):
        until = self._used + len(keys)
        if until > self._room.shape[1]:
            raise ValueError(f"{until} tokens do not go into {self._room.shape[1]}")
        self._room[:, self._used : until] = keys, values
        self._used = until

    def get_keys(self):
        return self._room[0, : self._used]

    def get_values(self):
        return self._room[1, : self._used]
