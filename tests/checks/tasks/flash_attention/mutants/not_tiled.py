# bug: plain attention that ignores its tile size
# caught by: peak_memory, causal_skip
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    S = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
    if causal:
        S = np.where(np.tri(Q.shape[2], dtype=bool), S, -np.inf)
    top = S.max(-1, keepdims=True)
    P = np.exp(S - np.where(np.isfinite(top), top, 0.0))
    l = P.sum(-1, keepdims=True)
    return P @ V / np.where(l > 0, l, 1.0)
