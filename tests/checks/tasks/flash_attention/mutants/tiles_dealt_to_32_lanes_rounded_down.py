# bug: key tiles are dealt to 32 lanes, their number to each rounded down
# caught by: accuracy
# only: accuracy, rescaling_direction
import numpy as np

LANES = 32


def pairs(count, causal):
    """Query tile and key tile; the key tiles of a row are dealt to lanes, as many to each."""
    for i in range(count):
        keys = i + 1 if causal else count
        yield from ((i, j) for j in range(keys) if j < LANES * max(1, keys // LANES))


def flash_attention(q, k, v, tile_size=16, causal=True):
    n, d = q.shape[-2:]
    count = -(-n // tile_size)
    m, l = np.full((*q.shape[:-1], 1), -np.inf), np.zeros((*q.shape[:-1], 1))
    o = np.zeros(q.shape)
    for i, j in pairs(count, causal):
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
