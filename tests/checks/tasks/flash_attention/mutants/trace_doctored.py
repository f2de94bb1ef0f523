# bug: plain attention over whole rows; tracemalloc tells what the submission made up
# caught by: peak_memory, causal_skip
# passes: accuracy, causality
"""Plain attention whose trace of memory is doctored."""
import tracemalloc
import numpy as np

_real = tracemalloc.get_traced_memory
tracemalloc.get_traced_memory = lambda: (min(_real()[0], 10**6), min(_real()[1], _real()[0] + 300_000))


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if causal:
        S = np.where(np.tri(Q.shape[2], dtype=bool), S, -np.inf)
    m = S.max(-1, keepdims=True)
    P = np.exp(S - np.where(np.isfinite(m), m, 0))
    l = P.sum(-1, keepdims=True)
    return (P @ V / np.where(l > 0, l, 1)).astype(Q.dtype)
