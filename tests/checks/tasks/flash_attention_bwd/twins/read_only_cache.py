# right: takes (H, N, D), and its cache is a read-only mapping
# warns: accuracy
"""FlashAttention forward and backward, organised like the GPU kernels.

Three "kernels", each a loop over independent thread blocks:

    k_forward   one block per query tile; key tiles from the diagonal *down* to 0
    k_dkdv      one block per key tile; owns dK, dV, streams the query tiles
    k_dq        one block per query tile; owns dQ, streams the key tiles

No block writes what another one writes, so no atomics are needed; the price is
that P is recomputed twice.  Blocks accumulate in float64 and results are
float64 whatever comes in.  Inputs are (N, D) or (H, N, D).

The cache is a read-only mapping with the keys O, L, Q, K, V.  Q, K, V are the
caller's arrays (not copied); L is the natural-log logsumexp of a row's scores,
-inf for a row without any visible key.
"""
from types import MappingProxyType

import numpy as np

NEG = -np.inf


class Geometry:
    """Tiling of an (N, N) problem."""

    def __init__(self, n, dim, tile_size, causal):
        if tile_size is None or int(tile_size) < 1:
            raise ValueError("tile_size >= 1 expected")
        self.n, self.t, self.causal = n, int(tile_size), bool(causal)
        self.count = -(-n // self.t)
        self.scale = 1.0 / np.sqrt(dim)

    def tile(self, i):
        return slice(i * self.t, min(self.n, (i + 1) * self.t))

    def keys_of(self, i):
        """Key tiles of query tile i, nearest first."""
        return range(i if self.causal else self.count - 1, -1, -1)

    def queries_of(self, j):
        """Query tiles that see key tile j."""
        return range(j if self.causal else 0, self.count)

    def scores(self, q, k, i, j):
        with np.errstate(over="ignore"):
            s = (np.asarray(q, np.float64) * self.scale) @ np.asarray(k, np.float64).T
        if self.causal and i == j:            # square tiles: only the diagonal one is cut
            s[np.triu_indices(s.shape[0], 1, s.shape[1])] = NEG
        return s


def k_forward(g, Q, K, V, O, L):
    for i in range(g.count):
        rows = g.tile(i)
        q = Q[rows]
        peak = np.full(q.shape[0], NEG)
        total = np.zeros(q.shape[0])
        acc = np.zeros((q.shape[0], V.shape[1]))
        for j in g.keys_of(i):
            s = g.scores(q, K[g.tile(j)], i, j)
            top = np.maximum(peak, s.max(axis=1))
            live = top > NEG
            pivot = np.where(live, top, 0.0)
            s -= pivot[:, None]
            np.exp(s, out=s)
            shrink = np.zeros_like(peak)
            np.exp(peak - pivot, out=shrink, where=peak > NEG)
            total = total * shrink + s.sum(axis=1)
            acc = acc * shrink[:, None] + s @ V[g.tile(j)]
            peak = top
        live = total > 0
        O[rows] = np.divide(acc, total[:, None], out=np.zeros_like(acc), where=live[:, None])
        L[rows] = np.where(live, peak + np.log(np.where(live, total, 1.0)), NEG)


def _probabilities(g, Q, K, L, i, j):
    """P of one tile from the saved L; rows with L = -inf are all zero."""
    lse = L[g.tile(i)]
    s = g.scores(Q[g.tile(i)], K[g.tile(j)], i, j)
    s -= np.where(lse > NEG, lse, 0.0)[:, None]
    return np.exp(s, out=s)


def k_dkdv(g, Q, K, V, L, dO, D, dK, dV):
    for j in range(g.count):
        cols = g.tile(j)
        for i in g.queries_of(j):
            rows = g.tile(i)
            p = _probabilities(g, Q, K, L, i, j)
            dV[cols] += p.T @ dO[rows]
            p *= dO[rows] @ V[cols].T - D[rows, None]
            dK[cols] += p.T @ Q[rows]
        dK[cols] *= g.scale


def k_dq(g, Q, K, V, L, dO, D, dQ):
    for i in range(g.count):
        rows = g.tile(i)
        for j in g.keys_of(i):
            cols = g.tile(j)
            p = _probabilities(g, Q, K, L, i, j)
            p *= dO[rows] @ V[cols].T - D[rows, None]
            dQ[rows] += p @ K[cols]
        dQ[rows] *= g.scale


def _heads(x):
    """(N, D) -> (1, N, D) view; (H, N, D) stays."""
    x = np.asarray(x)
    if x.ndim not in (2, 3):
        raise ValueError("expected (N, D) or (H, N, D)")
    return x[None] if x.ndim == 2 else x


def flash_attention_fwd(Q, K, V, tile_size=128, causal=True):
    """Returns (O, cache)."""
    q, k, v = _heads(Q), _heads(K), _heads(V)
    if q.shape[1] != k.shape[1]:
        raise ValueError("self-attention only: as many keys as queries")
    g = Geometry(q.shape[1], q.shape[2], tile_size, causal)
    O, L = np.zeros(v.shape), np.zeros(q.shape[:2])
    for h in range(q.shape[0]):
        k_forward(g, q[h], k[h], v[h], O[h], L[h])
    if np.ndim(Q) == 2:
        O, L = O[0], L[0]
    return O, MappingProxyType({"O": O, "L": L, "Q": Q, "K": K, "V": V})


def flash_attention_bwd(dO, cache, tile_size=128, causal=True):
    """Returns (dQ, dK, dV).  ``tile_size`` is free, ``causal`` must be the forward's."""
    q, k, v, o, do = (_heads(x) for x in (cache["Q"], cache["K"], cache["V"], cache["O"], dO))
    lse = np.asarray(cache["L"]).reshape(q.shape[:2])
    g = Geometry(q.shape[1], q.shape[2], tile_size, causal)
    dQ, dK, dV = np.zeros(q.shape), np.zeros(k.shape), np.zeros(v.shape)
    for h in range(q.shape[0]):
        D = np.einsum("nd,nd->n", do[h], o[h], dtype=np.float64)
        k_dkdv(g, q[h], k[h], v[h], lse[h], do[h], D, dK[h], dV[h])
        k_dq(g, q[h], k[h], v[h], lse[h], do[h], D, dQ[h])
    if np.ndim(dO) == 2:
        return dQ[0], dK[0], dV[0]
    return dQ, dK, dV
