# style: two files and a shared one; m starts at a finite minimum, so that L of an empty row is finite
# warns: logsumexp (finite for a row without a key)
import numpy as np

from masking import FINITE_MINIMUM, cuts, visible


def flash_attention_fwd(Q, K, V, tile_size: int, causal: bool = True):
    """Returns O and a cache {O, L, Q, K, V}."""
    batch, heads, length, width = Q.shape
    O = np.zeros(Q.shape, np.float64)
    L = np.zeros((batch, heads, length))
    for index in np.ndindex(batch, heads):
        for rows in cuts(length, tile_size):
            here = slice(*rows)
            m = np.full(rows[1] - rows[0], FINITE_MINIMUM)
            l = np.zeros_like(m)
            acc = np.zeros((len(m), width))
            for cols in cuts(length, tile_size):
                if causal and cols[0] >= rows[1]:
                    break
                there = slice(*cols)
                S = np.inner(Q[index][here], K[index][there]) / np.sqrt(width)
                mask = visible(rows, cols, causal)
                if mask is not None:
                    S = np.where(mask, S, -np.inf)
                top = np.maximum(m, S.max(1))
                P = np.exp(S - top[:, None])
                shrink = np.exp(m - top)
                l = l * shrink + P.sum(1)
                acc = acc * shrink[:, None] + P @ V[index][there]
                m = top
            full = l > 0
            O[index][here] = acc / np.where(full, l, 1.0)[:, None]
            L[index][here] = m + np.log(np.where(full, l, 1.0))
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}
