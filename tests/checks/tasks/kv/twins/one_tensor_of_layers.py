# style: keys and values of all layers in one tensor (L, B, S, 2, H, D)
# passes: memory_model
# skips: variable_lengths (no call takes lengths), gqa, paged, quantized
"""One tensor for every layer: cache[layer, batch, position, 0 or 1, head, dim]."""

import numpy as np

K, V = 0, 1


class LayeredKVCache:
    """All layers' keys and values in one preallocated array (L, B, S, 2, H, D).

    K and V of a token lie next to each other, so that a step writes one contiguous run per layer.
    """

    def __init__(self, num_layers, batch_size, max_seq_len, num_heads, head_dim, dtype=np.float32):
        self.num_layers = num_layers
        self.batch_size = batch_size
        self.max_seq_len = max_seq_len
        self.data = np.zeros((num_layers, batch_size, max_seq_len, 2, num_heads, head_dim), dtype=dtype)
        self.positions = np.zeros(num_layers, dtype=np.int64)

    def update(self, layer, k, v):
        """Append k and v (B, T, H, D) to a layer.

        Returns:
            (K, V) of the layer up to now, each (B, S, H, D), as views.
        """
        if not 0 <= layer < self.num_layers:
            raise IndexError(f"layer {layer} of {self.num_layers}")
        start = int(self.positions[layer])
        stop = start + k.shape[1]
        if stop > self.max_seq_len:
            raise ValueError(f"sequence of {stop} exceeds max_seq_len {self.max_seq_len}")
        self.data[layer, :, start:stop, K] = k
        self.data[layer, :, start:stop, V] = v
        self.positions[layer] = stop
        return self.get(layer)

    def get(self, layer):
        n = int(self.positions[layer])
        return self.data[layer, :, :n, K], self.data[layer, :, :n, V]

    def seq_len(self, layer=0):
        return int(self.positions[layer])

    def reset(self):
        self.positions[:] = 0

    def memory_bytes(self):
        return self.data.nbytes


def softmax(x):
    m = x.max(axis=-1, keepdims=True)
    e = np.exp(x - m)
    return e / e.sum(axis=-1, keepdims=True)


def cached_attention(q, k_new, v_new, cache, layer):
    """Write the new tokens, then attend.

    Args:
        q, k_new, v_new: (B, T, H, D) of the T new tokens.
        cache: LayeredKVCache.
        layer: index of the layer.

    Returns:
        (B, T, H, D).
    """
    keys, values = cache.update(layer, k_new, v_new)
    T, S = q.shape[1], keys.shape[1]
    scores = np.einsum("bthd,bshd->bhts", q, keys) / np.sqrt(q.shape[-1])
    mask = np.triu(np.ones((T, S), dtype=bool), k=S - T + 1)
    scores = np.where(mask, -1e30, scores)
    return np.einsum("bhts,bshd->bthd", softmax(scores), values)


def bytes_per_token(num_layers, num_heads, head_dim, dtype_bytes=2):
    """Bytes that one token takes over all layers."""
    return 2 * num_layers * num_heads * head_dim * dtype_bytes


def max_context(gpu_gb, model_gb, num_layers, num_heads, head_dim, dtype_bytes=2, batch_size=1):
    """Tokens per sequence that fit beside the weights; gigabytes of 1024**3 bytes."""
    free = (gpu_gb - model_gb) * 1024**3
    return int(free // (bytes_per_token(num_layers, num_heads, head_dim, dtype_bytes) * batch_size))


if __name__ == "__main__":
    print(bytes_per_token(32, 32, 128) / 1024, "KiB per token")
    print(max_context(80, 14, 32, 32, 128), "tokens")
