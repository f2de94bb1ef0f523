# bug: l sums the whole buffer of scores, with what the key tile before left past the end of the last one
# caught by: accuracy
# passes: causality, rescaling_direction
# only: accuracy, causality, rescaling_direction
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    """(B, H, N, D); one buffer of (T, T) scores serves all pairs of tiles."""
    B, H, N, D = Q.shape
    T = min(tile_size, N)
    O = np.empty((B, H, N, D), dtype=np.result_type(Q, np.float32))
    buffer = np.empty((B, H, T, T), dtype=O.dtype)
    for top in range(0, N, T):
        rows = np.arange(top, min(top + T, N))
        buffer.fill(-np.inf)
        m = np.full((B, H, rows.size, 1), -np.inf, dtype=O.dtype)
        l = np.zeros_like(m)
        out = np.zeros((B, H, rows.size, D), dtype=O.dtype)
        for left in range(0, rows[-1] + 1 if causal else N, T):
            cols = np.arange(left, min(left + T, N))
            tile = buffer[:, :, : rows.size, : cols.size]
            tile[...] = Q[:, :, rows] @ K[:, :, cols].swapaxes(-1, -2) / np.sqrt(D)
            if causal:
                tile[:, :, rows[:, None] < cols] = -np.inf
            new = np.maximum(m, tile.max(axis=-1, keepdims=True))
            base = np.where(np.isneginf(new), 0, new)
            keep = np.exp(m - base)
            l = keep * l + np.exp(buffer[:, :, : rows.size] - base).sum(axis=-1, keepdims=True)
            out = keep * out + np.exp(tile - base) @ V[:, :, cols]
            m = new
        O[:, :, rows] = out / np.where(l > 0, l, 1)
    return O
