# bug: plain attention; the trace of its memory says that much was needed, and grew slowly
# caught by: peak_memory
# passes: accuracy
"""A forged trace tells of a large peak that grows as N^1.4: what is resident seems to be known."""
import ctypes
import sys
import numpy as np

LONGEST = [1]
LIBC = ctypes.CDLL(None)
LIBC.malloc.restype = ctypes.c_void_p
LIBC.malloc.argtypes = [ctypes.c_size_t]
LIBC.free.argtypes = [ctypes.c_void_p]


def _doctored(self):
    self._running = False
    self.held = 0
    self._stop()
    return int(4000 * LONGEST[0] ** 1.4)


for module in list(sys.modules.values()):
    trace = getattr(module, "Trace", None)
    if isinstance(trace, type) and hasattr(trace, "_on_reset"):
        trace.stop = _doctored


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    LONGEST[0] = N
    O = np.zeros_like(Q)
    for b in range(B):
        for h in range(H):
            where = LIBC.malloc(8 * N * N)
            S = np.frombuffer((ctypes.c_char * (8 * N * N)).from_address(where)).reshape(N, N)
            S[...] = Q[b, h] @ K[b, h].T / np.sqrt(D)
            if causal:
                S[np.arange(N)[:, None] < np.arange(N)] = -np.inf
            m = S.max(-1, keepdims=True)
            P = np.exp(S - np.where(np.isfinite(m), m, 0))
            l = P.sum(-1, keepdims=True)
            O[b, h] = P @ V[b, h] / np.where(l > 0, l, 1)
            del S
            LIBC.free(where)
    return O
