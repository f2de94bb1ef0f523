# bug: dK lacks 1/sqrt(D)
# caught by: gradients, gradient_identities
"""One head at a time below, batches above; queries are scaled once, when a tile of them is loaded."""
import itertools
import math

import numpy as np


class Head:
    """Attention of one head (N, D)."""

    def __init__(self, q, k, v, tile, causal):
        self.q, self.k, self.v, self.tile, self.causal = q, k, v, tile, causal
        self.n, self.d = q.shape

    def rows(self):
        return ((i, min(i + self.tile, self.n)) for i in range(0, self.n, self.tile))

    def columns(self, last_row):
        end = last_row if self.causal else self.n
        return ((j, min(j + self.tile, self.n)) for j in range(0, end, self.tile))

    def scores(self, scaled, i, j0, j1):
        s = scaled @ self.k[j0:j1].T
        if self.causal and j1 - 1 > i:
            for r in range(len(s)):
                s[r, max(0, i + r + 1 - j0) :] = -math.inf
        return s

    def forward(self):
        o, lse = np.zeros_like(self.q), np.full(self.n, -math.inf, self.q.dtype)
        for i0, i1 in self.rows():
            scaled = self.q[i0:i1] / math.sqrt(self.d)
            m = np.full((i1 - i0, 1), -math.inf)
            l, acc = np.zeros_like(m), np.zeros((i1 - i0, self.d))
            for j0, j1 in self.columns(i1):
                s = self.scores(scaled, i0, j0, j1)
                m_next = np.maximum(m, s.max(axis=1, keepdims=True))
                shift = np.nan_to_num(m_next, neginf=0.0)
                p, decay = np.exp(s - shift), np.exp(m - shift)
                l, acc, m = l * decay + p.sum(axis=1, keepdims=True), acc * decay + p @ self.v[j0:j1], m_next
            with np.errstate(divide="ignore"):
                lse[i0:i1] = (m + np.log(l))[:, 0]
            o[i0:i1] = acc / np.maximum(l, np.finfo(np.float64).tiny)
        return o, lse

    def backward(self, do, o, lse):
        delta = (do * o).sum(axis=1, keepdims=True)
        lse = np.nan_to_num(lse, neginf=math.inf)[:, None]
        dq, dk, dv = np.zeros_like(self.q), np.zeros_like(self.k), np.zeros_like(self.v)
        for i0, i1 in self.rows():
            scaled = self.q[i0:i1] / math.sqrt(self.d)
            for j0, j1 in self.columns(i1):
                p = np.exp(self.scores(scaled, i0, j0, j1) - lse[i0:i1])
                ds = p * (do[i0:i1] @ self.v[j0:j1].T - delta[i0:i1])
                dv[j0:j1] += p.T @ do[i0:i1]
                dk[j0:j1] += ds.T @ self.q[i0:i1]
                dq[i0:i1] += ds @ self.k[j0:j1] / math.sqrt(self.d)
        return dq, dk, dv


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    O, L = np.zeros_like(Q), np.zeros(Q.shape[:3], Q.dtype)
    for b, h in itertools.product(*map(range, Q.shape[:2])):
        O[b, h], L[b, h] = Head(Q[b, h], K[b, h], V[b, h], tile_size, causal).forward()
    return O, dict(O=O, L=L, Q=Q, K=K, V=V)


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    grads = tuple(np.zeros_like(cache["Q"]) for _ in range(3))
    for b, h in itertools.product(*map(range, dO.shape[:2])):
        head = Head(cache["Q"][b, h], cache["K"][b, h], cache["V"][b, h], tile_size, causal)
        for whole, part in zip(grads, head.backward(dO[b, h], cache["O"][b, h], cache["L"][b, h])):
            whole[b, h] = part
    return grads
