import numpy as np


def top_k(scores, k):
    if k > scores.shape[-1]:
        raise ValueError(f"k={k} exceeds {scores.shape[-1]}")
    idx = np.argsort(-scores, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(scores, idx, axis=-1), idx
