# style: an operator with an adjoint; tiles are worked on in one buffer that stays on the operator
# warns: cache_minimality (the buffer, which carries nothing)
"""The map (Q, K, V) -> softmax(Q K^T / sqrt(D)) V as an operator with an adjoint.

The Jacobian of one softmax row is diag(p) - p p^T, so the pull-back of dP is
    dS = p * (dP - <p, dP>).
The inner product <p, dP> is evaluated from its definition in a first sweep
over the keys; the second sweep assembles the cotangents.  (The well known
short cut <p, dP> = <dO, O> would save the first sweep at the price of relying
on the rounding of O.)  Neither sweep holds more than a tile of P.
"""
from typing import NamedTuple, Optional

import numpy as np


class Tape(NamedTuple):
    """What the operator leaves behind for its adjoint."""
    O: np.ndarray
    L: np.ndarray          # log-sum-exp of each row, -inf for an empty one
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray


class Cotangents(NamedTuple):
    dV: np.ndarray
    dK: np.ndarray
    dQ: np.ndarray


class Workspace:
    """Two square tiles that grow on demand and are then used over and over."""

    def __init__(self):
        self._buf = np.empty((2, 0))

    def tiles(self, rows: int, cols: int):
        need = rows * cols
        if self._buf.shape[1] < need:
            self._buf = np.empty((2, need))
        return (self._buf[0, :need].reshape(rows, cols), self._buf[1, :need].reshape(rows, cols))


class SoftmaxOperator:
    """op = SoftmaxOperator(tile, causal);  O, tape = op.forward(Q, K, V);
    ct = op.adjoint(tape, dO).  All results are float64."""

    def __init__(self, tile: int = 48, causal: bool = True):
        self.tile, self.causal, self.work = tile, causal, Workspace()

    def _settings(self, tile: Optional[int], causal: Optional[bool]):
        tile = self.tile if tile is None else tile
        if tile < 1:
            raise ValueError(f"tile must be positive, not {tile}")
        return int(tile), self.causal if causal is None else causal

    @staticmethod
    def _spans(stop: int, tile: int):
        for a in range(0, stop, tile):
            yield a, min(a + tile, stop)

    @staticmethod
    def _scores(q, k, a, c, causal, out):
        """out <- q k^T with future keys removed; q starts at row a, k at row c."""
        np.matmul(q, k.T, out=out)
        if causal and c + out.shape[1] - 1 > a:
            i = np.arange(a, a + out.shape[0])[:, None]
            j = np.arange(c, c + out.shape[1])[None, :]
            np.copyto(out, -np.inf, where=j > i)
        return out

    def forward(self, Q, K, V, tile: Optional[int] = None, causal: Optional[bool] = None):
        tile, causal = self._settings(tile, causal)
        Q, K, V = map(np.asarray, (Q, K, V))
        if Q.ndim != 4 or not Q.shape == K.shape == V.shape:
            raise ValueError("Q, K, V must be (B, H, N, D) and agree")
        B, H, N, D = Q.shape
        O, L = np.zeros((B, H, N, D)), np.full((B, H, N), -np.inf)
        for b in range(B):
            for h in range(H):
                k, v = K[b, h].astype(float), V[b, h].astype(float)
                for a, z in self._spans(N, tile):
                    q = Q[b, h, a:z] / np.sqrt(float(D))
                    mu, sigma, y = np.full(z - a, -np.inf), np.zeros(z - a), np.zeros((z - a, D))
                    for c, e in self._spans(z if causal else N, tile):
                        S, _ = self.work.tiles(z - a, e - c)
                        self._scores(q, k[c:e], a, c, causal, S)
                        mu_next = np.maximum(mu, S.max(1))
                        shift = np.where(mu_next > -np.inf, mu_next, 0.0)
                        contraction = np.exp(mu - shift)
                        S -= shift[:, None]
                        np.exp(S, out=S)
                        sigma = contraction * sigma + S.sum(1)
                        y = contraction[:, None] * y + S @ v[c:e]
                        mu = mu_next
                    ok = sigma > 0
                    O[b, h, a:z][ok] = y[ok] / sigma[ok, None]
                    L[b, h, a:z][ok] = mu[ok] + np.log(sigma[ok])
        return O, Tape(O, L, Q, K, V)

    def adjoint(self, tape: Tape, dO, tile: Optional[int] = None, causal: Optional[bool] = None) -> Cotangents:
        tile, causal = self._settings(tile, causal)
        B, H, N, D = tape.Q.shape
        root = np.sqrt(float(D))
        dO = np.asarray(dO)
        ct = Cotangents(*(np.zeros((B, H, N, D)) for _ in range(3)))
        for b in range(B):
            for h in range(H):
                k, v = tape.K[b, h].astype(float), tape.V[b, h].astype(float)
                for a, z in self._spans(N, tile):
                    q, g = tape.Q[b, h, a:z] / root, dO[b, h, a:z].astype(float)
                    shift = tape.L[b, h, a:z, None]
                    shift = np.where(shift > -np.inf, shift, 0.0)

                    def tiles():
                        for c, e in self._spans(z if causal else N, tile):
                            P, dP = self.work.tiles(z - a, e - c)
                            self._scores(q, k[c:e], a, c, causal, P)
                            P -= shift
                            np.exp(P, out=P)
                            np.matmul(g, v[c:e].T, out=dP)
                            yield c, e, P, dP

                    inner = np.zeros(z - a)                      # sweep 1: <p, dP> per row
                    for c, e, P, dP in tiles():
                        inner += np.einsum("ij,ij->i", P, dP)
                    for c, e, P, dP in tiles():                  # sweep 2
                        ct.dV[b, h, c:e] += P.T @ g
                        dP -= inner[:, None]
                        dP *= P                                  # now dS
                        ct.dQ[b, h, a:z] += dP @ k[c:e] / root
                        ct.dK[b, h, c:e] += dP.T @ q
        return ct
