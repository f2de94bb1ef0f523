# bug: every state of the cache is kept for an undo that nobody asks for
# caught by: growth
from typing import NamedTuple

import numpy as np


class Snapshot(NamedTuple):
    keys: np.ndarray
    values: np.ndarray


class UndoableCache:
    def __init__(self, batch, heads, head_dim):
        empty = np.zeros((batch, heads, 0, head_dim), np.float32)
        self.states = [Snapshot(empty, empty)]

    def update(self, k, v):
        last = self.states[-1]
        self.states.append(Snapshot(np.concatenate([last.keys, k], 2), np.concatenate([last.values, v], 2)))

    def get(self):
        return tuple(self.states[-1])


def attention(q, k, v, causal=True):
    s = np.matmul(q, np.swapaxes(k, 2, 3)) / np.sqrt(q.shape[-1])
    if causal and q.shape[2] > 1:
        s = np.where(np.tri(q.shape[2], k.shape[2], k.shape[2] - q.shape[2], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.matmul(p / p.sum(-1, keepdims=True), v)
