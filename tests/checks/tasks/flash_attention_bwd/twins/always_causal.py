# style: always causal, without a parameter that says so; any leading axes
"""
Flash attention: forward and backward, NumPy
============================================

Forward saves O and the log-sum-exp L = m + log(l) of each row (and the inputs).  Backward recomputes

    P_ij = exp(scale * q_i . k_j - L_i)

tile by tile, so that neither P nor dS of size (N, N) ever exists.

    D_i  = sum_d dO_id O_id                 (row sums; replaces sum_j P_ij dP_ij)
    dV_j = sum_i P_ij dO_i
    dP   = dO V^T
    dS   = P * (dP - D)
    dQ_i = scale * sum_j dS_ij k_j
    dK_j = scale * sum_i dS_ij q_i

The backward pass is *key stationary*: dK_j, dV_j are accumulated in registers (here: small arrays) while the
queries stream past, and dQ is accumulated in place.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class FlashCache:
    O: np.ndarray
    L: np.ndarray
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray


def _bounds(n: int, t: int):
    return [(s, min(s + t, n)) for s in range(0, n, t)]


def _scores(q, k, scale, q0, k0, causal):
    s = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
    if causal and k0 + k.shape[-2] - 1 > q0:
        rows = q0 + np.arange(q.shape[-2])[:, None]
        cols = k0 + np.arange(k.shape[-2])[None, :]
        s = np.where(cols <= rows, s, s.dtype.type(-np.inf))
    return s


def flash_attention_fwd(Q, K, V, tile_size=64):
    """(B, H, N, D) x 3 -> O (B, H, N, D), FlashCache"""
    causal = True
    *lead, n, d = Q.shape
    scale = Q.dtype.type(1 / math.sqrt(d))
    O = np.zeros_like(Q)
    L = np.full((*lead, n), -np.inf, dtype=Q.dtype)
    for q0, q1 in _bounds(n, tile_size):
        m = np.full((*lead, q1 - q0), -np.inf, dtype=Q.dtype)
        l = np.zeros_like(m)
        acc = np.zeros((*lead, q1 - q0, d), dtype=Q.dtype)
        for k0, k1 in _bounds(n, tile_size):
            if causal and k0 >= q1:
                break
            s = _scores(Q[..., q0:q1, :], K[..., k0:k1, :], scale, q0, k0, causal)
            m_new = np.maximum(m, s.max(-1))
            shift = np.where(np.isfinite(m_new), m_new, 0).astype(Q.dtype)
            p = np.exp(s - shift[..., None])
            alpha = np.exp(m - shift)
            l = alpha * l + p.sum(-1)
            acc = alpha[..., None] * acc + p @ V[..., k0:k1, :]
            m = m_new
        alive = l > 0
        safe_l = np.where(alive, l, 1).astype(Q.dtype)
        O[..., q0:q1, :] = np.where(alive[..., None], acc / safe_l[..., None], 0)
        L[..., q0:q1] = np.where(alive, m + np.log(safe_l), -np.inf)
    return O, FlashCache(O=O, L=L, Q=Q, K=K, V=V)


def flash_attention_bwd(dO, cache: FlashCache, tile_size=64):
    """dO (B, H, N, D) -> dQ, dK, dV, each (B, H, N, D)"""
    Q, K, V = cache.Q, cache.K, cache.V
    causal = True
    n, d = Q.shape[-2:]
    scale = Q.dtype.type(1 / math.sqrt(d))
    delta = np.einsum("...nd,...nd->...n", dO, cache.O)
    L = np.where(np.isneginf(cache.L), np.inf, cache.L).astype(Q.dtype)  # exp(s - inf) = 0: empty rows give nothing
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for k0, k1 in _bounds(n, tile_size):
        kj, vj = K[..., k0:k1, :], V[..., k0:k1, :]
        dk, dv = np.zeros_like(kj), np.zeros_like(vj)
        for q0, q1 in _bounds(n, tile_size):
            if causal and q1 <= k0:
                continue
            qi, doi = Q[..., q0:q1, :], dO[..., q0:q1, :]
            p = np.exp(_scores(qi, kj, scale, q0, k0, causal) - L[..., q0:q1, None])
            dv += np.swapaxes(p, -1, -2) @ doi
            ds = p * (doi @ np.swapaxes(vj, -1, -2) - delta[..., q0:q1, None])
            dQ[..., q0:q1, :] += (ds @ kj) * scale
            dk += (np.swapaxes(ds, -1, -2) @ qi) * scale
        dK[..., k0:k1, :] = dk
        dV[..., k0:k1, :] = dv
    return dQ, dK, dV


