# bug: the walk over tiles of 16 ends where the first query stands, so later queries of one call lose what is behind it
# caught by: incremental_equals_full
# passes: growth, cache_size_minimality
"""A KV cache kept as a list of small tiles, read by a streaming softmax.

Why tiles?  A cache that is one big array must either be sized for the worst case or be copied
whenever it grows.  A list of tiles of 16 positions does neither: appending touches the last tile
only, and at most 15 positions are ever allocated without being used.  Attention never needs
the scores of all keys at once: it walks over the tiles with a running maximum and a running sum.

Optionally a tile stores INT8 codes with one float32 scale per (k/v, head, position).
"""
import numpy as np

TILE = 16


class Tile:
    """16 positions of K and V, (2, G, TILE, D)."""

    def __init__(self, kv_heads, head_dim, dtype, int8):
        self.used = 0
        self.data = np.zeros((2, kv_heads, TILE, head_dim), np.int8 if int8 else dtype)
        self.scale = np.zeros((2, kv_heads, TILE), np.float32) if int8 else None
        self.dtype = dtype

    def put(self, kv):
        """kv (2, G, n, D), n at most the room left."""
        a, b = self.used, self.used + kv.shape[2]
        if self.scale is None:
            self.data[:, :, a:b] = kv
        else:
            scale = (np.abs(kv).max(-1) / 127).astype(np.float32)
            safe = np.where(scale > 0, scale, 1)[..., None]
            self.data[:, :, a:b] = np.clip(np.rint(kv / safe), -127, 127).astype(np.int8)
            self.scale[:, :, a:b] = scale
        self.used = b

    def get(self):
        """K, V of the used positions, (G, used, D) each."""
        x = self.data[:, :, :self.used]
        if self.scale is not None:
            x = x.astype(self.dtype) * self.scale[:, :, :self.used, None].astype(self.dtype)
        return x[0], x[1]

    @property
    def nbytes(self):
        return self.data.nbytes + (0 if self.scale is None else self.scale.nbytes)


class TiledKV:
    """The cache of one layer and one sequence. Grows without limit."""

    def __init__(self, kv_heads, head_dim, dtype=np.float64, int8=False):
        self.kv_heads, self.head_dim, self.dtype, self.int8 = kv_heads, head_dim, dtype, int8
        self.tiles = []
        self.n = 0

    def __len__(self):
        return self.n

    @property
    def nbytes(self):
        return sum(t.nbytes for t in self.tiles)

    def append(self, k, v):
        """k, v (T, G, D), T >= 1."""
        kv = np.stack([np.asarray(k), np.asarray(v)]).transpose(0, 2, 1, 3)
        if kv.shape[1] != self.kv_heads or kv.shape[3] != self.head_dim:
            raise ValueError("expected (T, %d, %d)" % (self.kv_heads, self.head_dim))
        at = 0
        while at < kv.shape[2]:
            if not self.tiles or self.tiles[-1].used == TILE:
                self.tiles.append(Tile(self.kv_heads, self.head_dim, self.dtype, self.int8))
            take = min(TILE - self.tiles[-1].used, kv.shape[2] - at)
            self.tiles[-1].put(kv[:, :, at:at + take])
            at += take
        self.n += kv.shape[2]

    def read(self):
        """All K, V: (n, G, D) each."""
        if not self.tiles:
            z = np.zeros((0, self.kv_heads, self.head_dim), self.dtype)
            return z, z.copy()
        ks, vs = zip(*(t.get() for t in self.tiles))
        return (np.concatenate(ks, 1).transpose(1, 0, 2).copy(),
                np.concatenate(vs, 1).transpose(1, 0, 2).copy())

    def attend(self, q):
        """Causal attention of q (T, H, D), the queries of the T positions appended last."""
        T, H, D = q.shape
        G = self.kv_heads
        if T > self.n:
            raise ValueError("more queries than cached positions")
        if H % G:
            raise ValueError("H must be a multiple of the number of kv heads")
        qg = (q / np.sqrt(D)).astype(q.dtype).reshape(T, G, H // G, D).transpose(1, 2, 0, 3)
        q_pos = np.arange(self.n - T, self.n)
        top = np.full(qg.shape[:3], -np.inf, q.dtype)          # running maximum (G, R, T)
        den = np.zeros_like(top)                               # running sum
        out = np.zeros_like(qg)                                # running numerator
        for i, tile in enumerate(self.tiles):
            start = i * TILE
            if start > q_pos[0]:
                break                                          # from here on only the future
            k, v = tile.get()
            s = qg @ k[:, None].swapaxes(-1, -2)               # (G, R, T, used)
            k_pos = start + np.arange(tile.used)
            s = np.where(k_pos <= q_pos[:, None], s, -np.inf)
            new = np.maximum(top, s.max(-1))
            fade = np.exp(top - new)
            p = np.exp(s - new[..., None])
            den = den * fade + p.sum(-1)
            out = out * fade[..., None] + p @ v[:, None]
            top = new
        return (out / den[..., None]).transpose(2, 0, 1, 3).reshape(T, H, D)
