# bug: all scores are held, and the trace's peak is forgotten before the answer
# caught by: peak_memory
import tracemalloc

import numpy as np


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    N, D = Q.shape[-2:]
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(D)
    if causal:
        S = np.where(np.tri(N, dtype=bool), S, -np.inf)
    m = S.max(-1, keepdims=True)
    P = np.exp(S - np.where(np.isneginf(m), 0, m))
    l = P.sum(-1, keepdims=True)
    O = P @ V / np.where(l == 0, 1, l)
    del S, P
    tracemalloc.reset_peak()
    return O
