# bug: one (N, N) matrix of scores in memory of C's malloc
# caught by: peak_memory, causal_skip
# passes: accuracy, causality
"""Plain attention over ctypes memory that malloc gave."""
import ctypes
import numpy as np

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    count = B * H * N * N
    at = _libc.malloc(count * 8)
    S = np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_double)), (count,)).reshape(B, H, N, N)
    for i in range(0, N, tile_size):
        np.matmul(Q[:, :, i:i + tile_size], K.swapaxes(-1, -2), out=S[:, :, i:i + tile_size])
    S /= np.sqrt(D)
    if causal:
        for i in range(N):
            S[:, :, i, i + 1:] = -np.inf
    O = np.empty_like(Q)
    for i in range(0, N, tile_size):
        s = S[:, :, i:i + tile_size]
        m = s.max(-1, keepdims=True)
        p = np.exp(s - np.where(np.isfinite(m), m, 0))
        l = p.sum(-1, keepdims=True)
        O[:, :, i:i + tile_size] = p @ V / np.where(l > 0, l, 1)
    _libc.free(at)
    return O
