# bug: no forward; D is the row sum of P, which is 1, in place of dO · O
# caught by: gradients, gradient_identities
# passes: purity
import numpy as np


def flash_backward(Q, K, V, O, LSE, dO, tile_size=32):
    n, f = len(Q), Q.shape[1] ** -0.5
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    for r in range(0, n, tile_size):
        here = slice(r, r + tile_size)
        tiles = [slice(c, c + tile_size) for c in range(0, n, tile_size)]
        weights = [np.exp(Q[here] @ K[c].T * f - LSE[here, None]) for c in tiles]
        D = sum(p.sum(1) for p in weights)
        for c, p in zip(tiles, weights):
            ds = p * (dO[here] @ V[c].T - D[:, None]) * f
            dQ[here] += ds @ K[c]
            dK[c] += ds.T @ Q[here]
            dV[c] += p.T @ dO[here]
    return dQ, dK, dV
