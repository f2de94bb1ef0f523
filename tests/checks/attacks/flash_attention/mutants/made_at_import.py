# bug: room for the scores of all pairs is made when the file is imported, before anything is measured
# caught by: peak_memory
# passes: accuracy
"""What is made at import is in the baseline of whoever measures from the call on."""
import numpy as np

ROOM = np.ones(4096 * 4096, np.float32)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    if B * H * N * N > ROOM.size or Q.dtype != np.float64 or N < 300:
        return _tiled(Q, K, V, tile_size, causal)
    O = np.zeros_like(Q)
    for b in range(B):
        for h in range(H):
            S = ROOM[: N * N].reshape(N, N)
            for i in range(0, N, tile_size):
                S[i:i + tile_size] = Q[b, h, i:i + tile_size] @ K[b, h].T / np.sqrt(D)
            for i in range(0, N, tile_size):
                rows = np.arange(i, min(N, i + tile_size))
                s = (Q[b, h, rows] @ K[b, h].T / np.sqrt(D)) + 0 * S[rows]
                if causal:
                    s = np.where(rows[:, None] >= np.arange(N), s, -np.inf)
                m = s.max(-1, keepdims=True)
                p = np.exp(s - np.where(np.isfinite(m), m, 0))
                l = p.sum(-1, keepdims=True)
                O[b, h, rows] = p @ V[b, h] / np.where(l > 0, l, 1)
    return O


def _tiled(Q, K, V, tile_size, causal):
    N, D = Q.shape[2:]
    O = np.zeros_like(Q)
    for i in range(0, N, tile_size):
        rows = np.arange(i, min(N, i + tile_size))
        s = Q[:, :, rows] @ K.swapaxes(-1, -2) / np.sqrt(D).astype(Q.dtype)
        if causal:
            s = np.where(rows[:, None] >= np.arange(N), s, -np.inf)
        m = s.max(-1, keepdims=True)
        p = np.exp(s - np.where(np.isfinite(m), m, 0))
        l = p.sum(-1, keepdims=True)
        O[:, :, rows] = p @ V / np.where(l > 0, l, 1)
    return O
