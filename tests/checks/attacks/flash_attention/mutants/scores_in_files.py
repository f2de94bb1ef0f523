# bug: the scores of all pairs lie in files of the folder for temporary files, which is memory
# caught by: peak_memory (warn)
# passes: accuracy
"""Strips of scores go to files and come back; the files lie in memory, and in nobody's."""
import os
import tempfile
import numpy as np

FOLDER = tempfile.mkdtemp()


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.zeros_like(Q)
    strips = range(0, N, tile_size)
    for i in strips:
        end = min(N, i + tile_size)
        s = Q[:, :, i:end] @ K.swapaxes(-1, -2) / np.sqrt(D)
        if causal:
            s[..., np.arange(i, end)[:, None] < np.arange(N)] = -np.inf
        s.astype(np.float64).tofile(os.path.join(FOLDER, str(i)))
    for i in strips:
        end = min(N, i + tile_size)
        s = np.fromfile(os.path.join(FOLDER, str(i))).reshape(B, H, end - i, N)[..., : end if causal else N]
        os.remove(os.path.join(FOLDER, str(i)))
        m = s.max(-1, keepdims=True)
        p = np.exp(s - np.where(np.isfinite(m), m, 0))
        l = p.sum(-1, keepdims=True)
        O[:, :, i:end] = (p @ V[:, :, : p.shape[-1]]) / np.where(l > 0, l, 1)
    return O
