# bug: scores are divided by the head size instead of its root
# caught by: incremental_equals_full
import numpy as np


def attend(q, k_new, v_new, past=None):
    k = k_new if past is None else np.concatenate((past[0], k_new), axis=-2)
    v = v_new if past is None else np.concatenate((past[1], v_new), axis=-2)
    mask = np.triu(np.full((q.shape[-2], k.shape[-2]), -np.inf), k.shape[-2] - q.shape[-2] + 1)
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] + mask
    s = np.exp(s - s.max(-1, keepdims=True))
    return s / s.sum(-1, keepdims=True) @ v, (k, v)
