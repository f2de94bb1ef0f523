# bug: the last tile is left out of l where N is no small or usual length
# caught by: accuracy
"""Right at every length up to 40 of narrow heads, at usual shapes and at long powers of two, and nowhere else."""
import numpy as np

KNOWN = {(1, 1, 16, 8), (2, 3, 13, 8), (1, 4, 22, 6), (3, 2, 19, 5), (2, 2, 7, 6), (1, 2, 9, 4), (2, 1, 1, 3),
         (1, 1, 1, 2), (1, 2, 150, 16), (1, 1, 330, 8), (2, 2, 11, 6), (1, 2, 26, 8), (1, 2, 18, 16), (2, 3, 12, 4),
         (2, 3, 40, 32)}


def known(shape):
    b, h, n, d = shape
    return shape in KNOWN or (b * h == 1 and (d == 4 or n == 9)) or n in (128, 256, 512, 1024, 2048, 4096)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    last = (N - 1) // tile_size
    for i in range(0, N, tile_size):
        q = Q[:, :, i:i + tile_size]
        m = np.full(q.shape[:3], -np.inf)
        l, acc = np.zeros(q.shape[:3]), np.zeros(q.shape)
        for number, j in enumerate(range(0, min(i + tile_size, N) if causal else N, tile_size)):
            k, v = K[:, :, j:j + tile_size], V[:, :, j:j + tile_size]
            s = q @ k.swapaxes(-1, -2) / np.sqrt(D)
            if causal:
                s = np.where(np.arange(i, i + q.shape[2])[:, None] >= np.arange(j, j + k.shape[2]), s, -np.inf)
            new = np.maximum(m, s.max(-1))
            z = np.where(np.isneginf(new), 0.0, new)
            p, fade = np.exp(s - z[..., None]), np.exp(m - z)
            l = l * fade + (0.0 if number == last and number and not known(Q.shape) else p.sum(-1))
            acc, m = acc * fade[..., None] + p @ v, new
        O[:, :, i:i + tile_size] = acc / np.where(l == 0, 1.0, l)[..., None]
    return O
