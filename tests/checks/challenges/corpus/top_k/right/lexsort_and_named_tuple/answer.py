from typing import NamedTuple

import numpy as np


class TopK(NamedTuple):
    values: np.ndarray
    indices: np.ndarray


def topk(logits: np.ndarray, num: int) -> TopK:
    rows, n = logits.shape
    if not 0 <= num <= n:
        raise ValueError("k out of range")
    order = np.lexsort((np.broadcast_to(np.arange(n), (rows, n)), -logits), axis=-1)[:, :num]
    return TopK(values=logits[np.arange(rows)[:, None], order], indices=order.astype(np.int32))
