# style: the cache is a read-only mapping that is called with dO; it refuses a mask that is not the forward's
# warns: cache_minimality (the tile)
"""Flash attention with a hand-written VJP, in the manner of jax.vjp, NumPy only.

    O, pull = flash_attention_fwd(Q, K, V, tile_size, causal)
    dQ, dK, dV = pull(dO)                                        # or, spelled out,
    dQ, dK, dV = flash_attention_bwd(dO, pull, tile_size, causal)

`pull` is the cache: a read-only mapping with the residuals 'O', 'L', 'Q', 'K', 'V' that is also
the pullback.  It remembers whether the forward was causal and refuses to be pulled the other way,
since the saved L would belong to another softmax.  It may be pulled any number of times.
"""
from collections.abc import Mapping

import numpy as np


class Pullback(Mapping):
    """Residuals of one forward call; calling it maps dO to (dQ, dK, dV)."""

    def __init__(self, residuals, tile_size, causal):
        self._res = residuals
        self.tile_size, self.causal = tile_size, causal

    def __getitem__(self, key):
        return self._res[key]

    def __iter__(self):
        return iter(self._res)

    def __len__(self):
        return len(self._res)

    def __call__(self, dO, tile_size=None):
        Q, K, V, O, L = (self._res[k] for k in "QKVOL")
        size = self.tile_size if tile_size is None else _check_tile(tile_size)
        dO = np.asarray(dO, dtype=O.dtype)
        if dO.shape != O.shape:
            raise ValueError(f"dO has shape {dO.shape}, O has {O.shape}")
        delta = np.einsum("...nd,...nd->...n", dO, O)
        grads = np.zeros((3,) + Q.shape, Q.dtype)
        for cols in _grid(K.shape[2], size):
            # query tiles wholly before this key tile cannot see it
            first = cols.start // size if self.causal else 0
            for rows in _grid(Q.shape[2], size)[first:]:
                _pull_tile(grads, (Q, K, V, dO), delta, L, rows, cols, self.causal)
        return tuple(grads)


def _check_tile(tile_size):
    if tile_size < 1:
        raise ValueError("tile_size must be at least 1")
    return int(tile_size)


def _grid(n, size):
    return [slice(a, min(n, a + size)) for a in range(0, n, size)]


def _logits(q, k, rows, cols, causal):
    """(B, H, r, c) scaled scores; hidden entries are -inf."""
    s = (q @ k.swapaxes(2, 3)) / np.sqrt(np.asarray(q.shape[-1], q.dtype))
    if causal and cols.stop > rows.start + 1:
        ahead = np.arange(cols.start, cols.stop)[None] > np.arange(rows.start, rows.stop)[:, None]
        s[..., ahead] = -np.inf
    return s


def _anchor(x):
    """Rows without a visible key have -inf; exp(-inf - 0) = 0 is what they need."""
    return np.where(x == -np.inf, np.zeros_like(x), x)


def _pull_tile(grads, operands, delta, L, rows, cols, causal):
    """Add the contribution of one (query tile, key tile) pair to grads = (dQ, dK, dV)."""
    Q, K, V, dO = operands
    q, k, v, do = Q[:, :, rows], K[:, :, cols], V[:, :, cols], dO[:, :, rows]
    p = np.exp(_logits(q, k, rows, cols, causal) - _anchor(L[:, :, rows])[..., None])
    dp = do @ v.swapaxes(2, 3)
    ds = p * (dp - delta[:, :, rows, None]) / np.sqrt(np.asarray(q.shape[-1], q.dtype))
    grads[0][:, :, rows] += ds @ k
    grads[1][:, :, cols] += ds.swapaxes(2, 3) @ q
    grads[2][:, :, cols] += p.swapaxes(2, 3) @ do


def flash_attention_fwd(Q, K, V, tile_size=128, causal=True):
    """Q, K, V (B, H, N, D) -> (O, pull).  Key tiles are visited from the nearest to the farthest
    (descending): with recency the maximum is found early and rescaling is rare."""
    Q, K, V = (np.asarray(x) for x in (Q, K, V))
    size = _check_tile(tile_size)
    n = Q.shape[2]
    O, L = np.zeros_like(Q), np.full(Q.shape[:3], -np.inf, Q.dtype)
    for rows in _grid(n, size):
        q, o = Q[:, :, rows], O[:, :, rows]            # o is a view: accumulate in place
        m = np.full(q.shape[:3], -np.inf, Q.dtype)
        l = np.zeros_like(m)
        for cols in reversed(_grid(rows.stop if causal else n, size)):
            s = _logits(q, K[:, :, cols], rows, cols, causal)
            m_next = np.maximum(m, s.max(axis=3))
            a = _anchor(m_next)
            w, p = np.exp(m - a), np.exp(s - a[..., None])
            l = w * l + p.sum(axis=3)
            o *= w[..., None]
            o += p @ V[:, :, cols]
            m = m_next
        seen = l > 0
        safe = np.where(seen, l, np.ones_like(l))
        o /= safe[..., None]
        L[:, :, rows] = np.where(seen, m + np.log(safe), -np.inf)
    return O, Pullback({"O": O, "L": L, "Q": Q, "K": K, "V": V}, size, bool(causal))


def flash_attention_bwd(dO, cache, tile_size=None, causal=None):
    """(dQ, dK, dV) from the forward's pullback; both options default to the forward's."""
    if causal is not None and bool(causal) != cache.causal:
        raise ValueError(f"the forward ran with causal={cache.causal}")
    return cache(dO, tile_size)
