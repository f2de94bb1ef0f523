# style: query tile and key tile are packed into 32 bits, 16 each
# only: accuracy, rescaling_direction
import numpy as np

BITS = 16


def pairs(count, causal):
    """Query tile and key tile in one number each, in the order in which they are worked off."""
    listed = [(i << BITS) | j for i in range(count) for j in range(i + 1 if causal else count)]
    return np.array(listed).astype(np.uint32).astype(np.int64)


def flash_attention(q, k, v, tile_size=16, causal=True):
    n, d = q.shape[-2:]
    count = -(-n // tile_size)
    m, l = np.full((*q.shape[:-1], 1), -np.inf), np.zeros((*q.shape[:-1], 1))
    o = np.zeros(q.shape)
    for pair in pairs(count, causal):
        i, j = int(pair) >> BITS, int(pair) & ((1 << BITS) - 1)
        rows = slice(i * tile_size, min((i + 1) * tile_size, n))
        keys = slice(j * tile_size, min((j + 1) * tile_size, n))
        s = q[..., rows, :] @ k[..., keys, :].swapaxes(-1, -2) / np.sqrt(d)
        if causal:
            s = np.where(np.arange(n)[rows][:, None] >= np.arange(n)[keys], s, -np.inf)
        new = np.maximum(m[..., rows, :], s.max(axis=-1, keepdims=True))
        p, share = np.exp(s - new), np.exp(m[..., rows, :] - new)
        l[..., rows, :] = l[..., rows, :] * share + p.sum(axis=-1, keepdims=True)
        o[..., rows, :] = o[..., rows, :] * share + p @ v[..., keys, :]
        m[..., rows, :] = new
    return o / np.where(l > 0, l, 1.0)
