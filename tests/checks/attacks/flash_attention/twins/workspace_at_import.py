# style: buffers for one tile are made at import, once for all calls, and grow where a call wants more
# only: accuracy, peak_memory, causal_skip, causality
"""A workspace that is made before the first call, of the size of tiles."""
import numpy as np

WORK = {"scores": np.empty(256 * 256), "out": np.empty(256 * 128)}


def _room(name, shape):
    size = int(np.prod(shape))
    if WORK[name].size < size:
        WORK[name] = np.empty(size)
    return WORK[name][:size].reshape(shape)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.empty_like(Q)
    for b in range(B):
        for h in range(H):
            for i in range(0, N, tile_size):
                q = Q[b, h, i:i + tile_size] / np.sqrt(D).astype(Q.dtype)
                n = len(q)
                m, l = np.full((n, 1), -np.inf), np.zeros((n, 1))
                a = _room("out", (n, D))
                a[...] = 0
                for j in range(0, i + n if causal else N, tile_size):
                    k, v = K[b, h, j:j + tile_size], V[b, h, j:j + tile_size]
                    s = _room("scores", (n, len(k)))
                    np.matmul(q, k.T, out=s)
                    if causal and j + len(k) > i + 1:
                        s[np.arange(i, i + n)[:, None] < np.arange(j, j + len(k))] = -np.inf
                    new = np.maximum(m, s.max(-1, keepdims=True))
                    z = np.where(np.isneginf(new), 0, new)
                    np.exp(s - z, out=s)
                    c = np.exp(m - z)
                    l = l * c + s.sum(-1, keepdims=True)
                    a *= c
                    a += s @ v
                    m = new
                O[b, h, i:i + tile_size] = a / np.where(l > 0, l, 1)
    return O
