# bug: later keys are hidden by -1e10, and the last row, which no later key lends a maximum, is NaN in a blind head
# caught by: nan_masked_tiles
# only: nan_masked_tiles, accuracy
import numpy as np


def causal_flash_attention(Q, K, V, tile_size):
    N, D = Q.shape[2:]
    O = np.empty(Q.shape, Q.dtype)
    for i in range(0, N, tile_size):
        rows = np.arange(i, min(i + tile_size, N))
        s = Q[:, :, rows] @ K.swapaxes(-1, -2) / np.sqrt(D)
        s = np.where(np.arange(N) > rows[:, None], -1e10, s)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        O[:, :, rows] = p @ V
    return O
