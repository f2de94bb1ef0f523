# bug: what was summed of PV is kept in float16 from key tile to key tile
# caught by: accuracy
import numpy as np


def flash_attention_fwd(Q, K, V, tile_size=64, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros(Q.shape)
    for start in range(0, N, tile_size):
        stop = min(start + tile_size, N)
        top = np.full((B, H, stop - start, 1), -np.inf)
        total = np.zeros_like(top)
        summed = np.zeros((B, H, stop - start, D), np.float16)
        for first in range(0, stop if causal else N, tile_size):
            last = min(first + tile_size, N)
            s = Q[:, :, start:stop] @ K[:, :, first:last].transpose(0, 1, 3, 2) / D**0.5
            if causal:
                s = np.where(np.arange(first, last) > np.arange(start, stop)[:, None], -np.inf, s)
            new = np.maximum(top, s.max(axis=-1, keepdims=True))
            base = np.where(np.isfinite(new), new, 0.0)
            w, turn = np.exp(s - base), np.exp(top - base)
            total = total * turn + w.sum(axis=-1, keepdims=True)
            summed = (summed * turn + w @ V[:, :, first:last]).astype(np.float16)
            top = new
        O[:, :, start:stop] = summed / np.where(total > 0, total, 1.0)
    return O
