# slow: peak_memory
import numpy as np

from masking import cuts, visible


def flash_attention_bwd(dO, cache, tile_size: int, causal: bool = True):
    """Returns dQ, dK, dV; the tile need not be the forward's."""
    Q, K, V, O, L = cache["Q"], cache["K"], cache["V"], cache["O"], cache["L"]
    batch, heads, length, width = Q.shape
    dQ, dK, dV = (np.zeros(Q.shape, np.float64) for _ in range(3))
    D = np.sum(dO * O, axis=-1, keepdims=True)
    for index in np.ndindex(batch, heads):
        for cols in cuts(length, tile_size):
            there = slice(*cols)
            k, v = K[index][there], V[index][there]
            for rows in cuts(length, tile_size):
                if causal and cols[0] >= rows[1]:
                    continue
                here = slice(*rows)
                S = np.inner(Q[index][here], k) / np.sqrt(width)
                mask = visible(rows, cols, causal)
                if mask is not None:
                    S = np.where(mask, S, -np.inf)
                P = np.exp(S - L[index][here, None])
                dS = P * (np.inner(dO[index][here], v) - D[index][here])
                dV[index][there] += np.dot(P.T, dO[index][here])
                dK[index][there] += np.dot(dS.T, Q[index][here]) / np.sqrt(width)
                dQ[index][here] += np.dot(dS, k) / np.sqrt(width)
    return dQ, dK, dV
