# bug: what is kept as L is in base 2, though the backward turns it back
# caught by: logsumexp
# passes: accuracy, gradients
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


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    """(B, H, N, D) x 3 -> O (B, H, N, D), FlashCache"""
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
        L[..., q0:q1] = np.where(alive, (m + np.log(safe_l)) / np.log(2.0), -np.inf)
    return O, FlashCache(O=O, L=L, Q=Q, K=K, V=V)


def flash_attention_bwd(dO, cache: FlashCache, tile_size=64, causal=True):
    """dO (B, H, N, D) -> dQ, dK, dV, each (B, H, N, D)"""
    Q, K, V = cache.Q, cache.K, cache.V
    n, d = Q.shape[-2:]
    scale = Q.dtype.type(1 / math.sqrt(d))
    delta = np.einsum("...nd,...nd->...n", dO, cache.O)
    L = np.where(np.isneginf(cache.L), np.inf, cache.L * np.log(2.0)).astype(Q.dtype)  # exp(s - inf) = 0: empty rows give nothing
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


class GradientChecker:
    """Element-wise central differences on a small problem."""

    def __init__(self, shape=(1, 2, 6, 4), tile=4, causal=True, h=1e-5, seed=0):
        self.rng = np.random.default_rng(seed)
        self.inputs = [self.rng.normal(size=shape) for _ in range(3)]
        self.dO = self.rng.normal(size=shape)
        self.tile, self.causal, self.h = tile, causal, h

    def loss(self):
        return float((flash_attention_fwd(*self.inputs, self.tile, self.causal)[0] * self.dO).sum())

    def run(self):
        _, cache = flash_attention_fwd(*self.inputs, self.tile, self.causal)
        worst = {}
        for name, x, g in zip("QKV", self.inputs, flash_attention_bwd(self.dO, cache, self.tile, self.causal)):
            num = np.empty_like(x)
            for i in np.ndindex(x.shape):
                old = x[i]
                x[i] = old + self.h
                up = self.loss()
                x[i] = old - self.h
                down = self.loss()
                x[i] = old
                num[i] = (up - down) / (2 * self.h)
            worst["d" + name] = float(np.abs(num - g).max() / np.abs(num).max())
        return worst


if __name__ == "__main__":
    for causal in (True, False):
        errs = GradientChecker(causal=causal).run()
        print("causal" if causal else "full  ", errs)
        assert max(errs.values()) < 1e-5
    rng = np.random.default_rng(3)
    q, k, v, do = (rng.normal(size=(1, 2, 1000, 32)) for _ in range(4))
    o1, c1 = flash_attention_fwd(q, k, v, 128)
    for t in (64, 100, 999, 2048):
        g1, g2 = flash_attention_bwd(do, c1, 128), flash_attention_bwd(do, c1, t)
        print(t, [float(np.abs(a - b).max()) for a, b in zip(g1, g2)])
