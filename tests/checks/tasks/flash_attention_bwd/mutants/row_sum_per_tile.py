# bug: the row sum is that of the tile alone
# caught by: gradients, gradient_identities
# passes: logsumexp, cache_minimality
"""Flash attention over whole batches, keys stationary in both directions.

The forward keeps its running statistics of all rows in arrays and walks the keys in the outer loop (the
schedule of the first paper); the backward recomputes the weights of one tile of keys against every query.
"""
from typing import NamedTuple

import numpy as np


class Saved(NamedTuple):
    O: np.ndarray
    L: np.ndarray
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray


def _pieces(length, tile):
    edges = [*range(0, length, tile), length]
    return [slice(a, b) for a, b in zip(edges[:-1], edges[1:])]


def _weights(q, k, rows, cols, causal):
    """Scores of a tile; what may not be seen is -inf."""
    s = np.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
    if causal:
        s += np.where(np.arange(cols.start, cols.stop) > np.arange(rows.start, rows.stop)[:, None], -np.inf, 0.0)
    return s


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    length = Q.shape[2]
    top = np.full(Q.shape[:3], -np.inf, Q.dtype)
    mass = np.zeros(Q.shape[:3], Q.dtype)
    total = np.zeros_like(Q)
    for cols in _pieces(length, tile_size):
        for rows in _pieces(length, tile_size):
            if causal and cols.start >= rows.stop:
                continue
            s = _weights(Q[:, :, rows], K[:, :, cols], rows, cols, causal)
            new = np.maximum(top[:, :, rows], s.max(-1))
            base = np.where(new == -np.inf, 0, new)
            p = np.exp(s - base[..., None])
            fade = np.exp(top[:, :, rows] - base)
            mass[:, :, rows] = mass[:, :, rows] * fade + p.sum(-1)
            total[:, :, rows] = total[:, :, rows] * fade[..., None] + np.einsum("bhij,bhjd->bhid", p, V[:, :, cols])
            top[:, :, rows] = new
    seen = mass > 0
    divisor = np.where(seen, mass, 1)
    O = total / divisor[..., None]
    return O, Saved(O, np.where(seen, top + np.log(divisor), -np.inf), Q, K, V)


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V = cache.Q, cache.K, cache.V
    lse = np.where(np.isinf(cache.L), 0, cache.L)[..., None]
    dQ, dK, dV = np.zeros_like(Q), np.empty_like(K), np.empty_like(V)
    for cols in _pieces(Q.shape[2], tile_size):
        dk, dv = np.zeros_like(K[:, :, cols]), np.zeros_like(V[:, :, cols])
        for rows in _pieces(Q.shape[2], tile_size):
            if causal and cols.start >= rows.stop:
                continue
            p = np.exp(_weights(Q[:, :, rows], K[:, :, cols], rows, cols, causal) - lse[:, :, rows])
            dp = np.einsum("bhid,bhjd->bhij", dO[:, :, rows], V[:, :, cols])
            softmax_term = np.einsum("bhij,bhij->bhi", p, dp)
            ds = p * (dp - softmax_term[..., None]) * Q.shape[-1] ** -0.5
            dv += np.einsum("bhij,bhid->bhjd", p, dO[:, :, rows])
            dk += np.einsum("bhij,bhid->bhjd", ds, Q[:, :, rows])
            dQ[:, :, rows] += np.einsum("bhij,bhjd->bhid", ds, K[:, :, cols])
        dK[:, :, cols], dV[:, :, cols] = dk, dv
    return dQ, dK, dV
