# bug: nothing is subtracted from dP
# caught by: gradients, gradient_identities
"""Object with a forward and a backward; vector-Jacobian products of tiles are functions of their own."""
import numpy as np


def tile_scores(q, k, scale, visible):
    s = np.tensordot(q, k, axes=([1], [1])) * scale
    return s if visible is None else np.where(visible, s, -np.inf)


def tile_vjp(q, k, v, g, lse, scale, visible):
    """What one tile adds to dQ, dK and dV."""
    p = np.exp(tile_scores(q, k, scale, visible) - lse[:, None])
    ds = p * np.dot(g, v.T)
    return scale * np.dot(ds, k), scale * np.dot(ds.T, q), np.dot(p.T, g)


class Saved:
    __slots__ = ("K", "L", "O", "Q", "V")

    def __init__(self, **arrays):
        for name, array in arrays.items():
            setattr(self, name, array)


class FlashAttention:
    def __init__(self, tile_size=64, causal=True):
        self.tile_size, self.causal = tile_size, causal

    def _visible(self, i, j, shape):
        if not self.causal or j + shape[1] <= i + 1:
            return None
        return np.subtract.outer(np.arange(i, i + shape[0]), np.arange(j, j + shape[1])) >= 0

    def _tiles(self, n):
        for i in range(0, n, self.tile_size):
            for j in range(0, min(i + self.tile_size, n) if self.causal else n, self.tile_size):
                yield slice(i, min(i + self.tile_size, n)), slice(j, min(j + self.tile_size, n))

    def forward(self, Q, K, V):
        n, d = Q.shape[2:]
        O, L = np.zeros_like(Q), np.full(Q.shape[:3], -np.inf, Q.dtype)
        for at in np.ndindex(*Q.shape[:2]):
            o, lse = O[at], L[at]
            for r, c in self._tiles(n):
                # A normalized answer and its log-sum-exp are joined with the next tile's own.
                s = tile_scores(Q[at][r], K[at][c], d**-0.5, self._visible(r.start, c.start, (r.stop - r.start, c.stop - c.start)))
                peak = np.where(np.isneginf(s.max(1)), 0.0, s.max(1))
                p = np.exp(s - peak[:, None])
                with np.errstate(divide="ignore"):
                    own = peak + np.log(p.sum(1))
                joined = np.logaddexp(lse[r], own)
                base = np.where(np.isneginf(joined), 0.0, joined)
                o[r] = o[r] * np.exp(lse[r] - base)[:, None] + np.dot(p * np.exp(peak - base)[:, None], V[at][c])
                lse[r] = joined
        return O, Saved(O=O, L=L, Q=Q, K=K, V=V)

    def backward(self, dO, saved):
        n, d = dO.shape[2:]
        dQ, dK, dV = np.zeros_like(saved.Q), np.zeros_like(saved.K), np.zeros_like(saved.V)
        for at in np.ndindex(*dO.shape[:2]):
            lse = np.where(np.isneginf(saved.L[at]), np.inf, saved.L[at])
            for r, c in self._tiles(n):
                visible = self._visible(r.start, c.start, (r.stop - r.start, c.stop - c.start))
                parts = tile_vjp(saved.Q[at][r], saved.K[at][c], saved.V[at][c], dO[at][r], lse[r], d**-0.5, visible)
                dQ[at][r] += parts[0]
                dK[at][c] += parts[1]
                dV[at][c] += parts[2]
        return dQ, dK, dV


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    return FlashAttention(tile_size, causal).forward(Q, K, V)


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    return FlashAttention(tile_size, causal).backward(dO, cache)
