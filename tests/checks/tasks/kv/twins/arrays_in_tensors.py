# right: what a cache gives back are objects around arrays, and what it is written to is told where
# only: cache_size_minimality, isolation, growth, capacity
import numpy as np


class Tensor:
    def __init__(self, data):
        self.data = data


class LayeredCache:
    def __init__(self, batch_size, num_layers, num_heads, max_seq_len, head_dim):
        room = (num_layers, batch_size, num_heads, max_seq_len, head_dim)
        self.keys, self.values = np.zeros(room, np.float32), np.zeros(room, np.float32)

    def update(self, layer_idx, key, value, seq_offset):
        end = seq_offset + key.shape[2]
        if end > self.keys.shape[3]:
            raise ValueError(f"{end} tokens do not fit")
        self.keys[layer_idx, :, :, seq_offset:end] = key
        self.values[layer_idx, :, :, seq_offset:end] = value

    def current(self, layer_idx, seq_len):
        return Tensor(self.keys[layer_idx, :, :, :seq_len]), Tensor(self.values[layer_idx, :, :, :seq_len])
