# style: one head after another; the cache is a list with a dict per block of queries
import numpy as np


class _Rows:
    """A block of query rows of one head."""

    def __init__(self, b, h, first, q):
        self.at, self.first, self.q = (b, h), first, q
        self.top = np.full(len(q), -np.inf)
        self.mass = np.zeros(len(q))
        self.acc = np.zeros(q.shape)

    def meet(self, k, v, col, causal):
        s = score(self.q, k, self.first, col, causal)
        top = np.maximum(self.top, s.max(axis=1))
        base = np.where(np.isneginf(top), 0.0, top)
        e, keep = np.exp(s - base[:, None]), np.exp(self.top - base)
        self.mass = keep * self.mass + e.sum(axis=1)
        self.acc = keep[:, None] * self.acc + e @ v
        self.top = top

    def done(self):
        seen = self.mass > 0
        out = np.where(seen[:, None], self.acc / np.where(seen, self.mass, 1.0)[:, None], 0.0)
        lse = np.where(seen, self.top + np.log(np.where(seen, self.mass, 1.0)), -np.inf)
        return out, lse


def score(q, k, row, col, causal):
    s = q @ k.T / np.sqrt(q.shape[1])
    if causal:
        s[np.arange(row, row + len(q))[:, None] < np.arange(col, col + len(k))] = -np.inf
    return s


def key_starts(first, rows, n, tile, causal):
    return range(0, min(n, first + rows) if causal else n, tile)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, _ = Q.shape
    O, tiles = np.empty_like(Q), []
    for b, h in np.ndindex(B, H):
        for i in range(0, N, tile_size):
            block = _Rows(b, h, i, Q[b, h, i : i + tile_size])
            for j in key_starts(i, len(block.q), N, tile_size, causal):
                block.meet(K[b, h, j : j + tile_size], V[b, h, j : j + tile_size], j, causal)
            out, lse = block.done()
            O[b, h, i : i + tile_size] = out
            tiles.append({"at": (b, h, i), "Q": block.q, "O": out, "L": lse})
    return O, {"K": K, "V": V, "tiles": tiles}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    K, V = cache["K"], cache["V"]
    dQ, dK, dV = np.zeros_like(K), np.zeros_like(K), np.zeros_like(V)
    for tile in cache["tiles"]:
        b, h, i = tile["at"]
        q, g = tile["Q"], dO[b, h, i : i + len(tile["Q"])]
        starts = key_starts(i, len(q), K.shape[2], tile_size, causal)
        lse = np.where(np.isneginf(tile["L"]), np.inf, tile["L"])
        delta = np.einsum("nd,nd->n", g, tile["O"])[:, None]
        for j in starts:
            cols = slice(j, j + tile_size)
            k, v = K[b, h, cols], V[b, h, cols]
            p = np.exp(score(q, k, i, j, causal) - lse[:, None])
            ds = p * (g @ v.T - delta) / np.sqrt(q.shape[1])
            dQ[b, h, i : i + len(q)] += ds @ k
            dK[b, h, cols] += ds.T @ q
            dV[b, h, cols] += p.T @ g
    return dQ, dK, dV
