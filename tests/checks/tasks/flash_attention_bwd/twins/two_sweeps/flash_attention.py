"""Public entry points. Heads are independent, so they are looped over in Python; tiles are the inner loops."""
from itertools import product

import numpy as np

from kernels import dkv_head, dq_head, forward_head


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    """Returns O and a dict {O, L, Q, K, V}; L has the shape (B, H, N)."""
    O = np.zeros_like(Q)
    L = np.full(Q.shape[:3], -np.inf, dtype=Q.dtype)
    for b, h in product(range(Q.shape[0]), range(Q.shape[1])):
        forward_head(Q[b, h], K[b, h], V[b, h], tile_size, causal, O[b, h], L[b, h])
    return O, {"O": O, "L": L, "Q": Q, "K": K, "V": V}


def flash_attention_bwd(dO, cache, tile_size, causal=True):
    Q, K, V, O = (cache[name] for name in ("Q", "K", "V", "O"))
    # rows without a visible key have L = -inf; +inf makes their weights exactly zero
    L = np.where(cache["L"] == -np.inf, np.inf, cache["L"])
    delta = (dO * O).sum(axis=-1)
    dQ, dK, dV = (np.zeros_like(a) for a in (Q, K, V))
    for idx in np.ndindex(Q.shape[:2]):
        args = (Q[idx], K[idx], V[idx], dO[idx], L[idx], delta[idx], tile_size, causal)
        dq_head(*args, dQ[idx])
        dkv_head(*args, dK[idx], dV[idx])
    return dQ, dK, dV
