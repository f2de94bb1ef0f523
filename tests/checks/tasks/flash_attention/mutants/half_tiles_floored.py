# bug: keys come in half tiles, and their number under the diagonal is rounded down: odd tiles lose keys
# caught by: accuracy
from typing import NamedTuple

import numpy as np


class Attended(NamedTuple):
    out: np.ndarray
    lse: np.ndarray


def _fold(carry, tile):
    top, total, out = carry
    scores, values = tile
    new = np.maximum(top, scores.max(-1))
    safe = np.where(np.isneginf(new), 0.0, new)
    weights = np.exp(scores - safe[..., None])
    old = np.where(np.isneginf(top), 0.0, np.exp(np.where(np.isneginf(top), 0.0, top) - safe))
    return new, total * old + weights.sum(-1), out * old[..., None] + weights @ values


def attention(query, key, value, *, block_size=32, is_causal=True):
    """(..., N, D) three times; queries in blocks, keys in half blocks."""
    length, width = query.shape[-2:]
    half = -(-block_size // 2)
    outs, tops = [], []
    for start in range(0, length, block_size):
        q = query[..., start : start + block_size, :] * width**-0.5
        rows = np.arange(start, start + q.shape[-2])
        seen = start + q.shape[-2] if is_causal else length
        count = max(seen // half, 1) if is_causal else -(-seen // half)
        carry = (np.full(q.shape[:-1], -np.inf), np.zeros(q.shape[:-1]), np.zeros(q.shape))
        for index in range(count):
            keys = slice(index * half, min((index + 1) * half, length))
            scores = q @ key[..., keys, :].swapaxes(-1, -2)
            if is_causal:
                scores = np.where(np.arange(length)[keys] > rows[:, None], -np.inf, scores)
            carry = _fold(carry, (scores, value[..., keys, :]))
        top, total, out = carry
        safe = np.where(total > 0, total, 1.0)
        outs.append(out / safe[..., None])
        tops.append(np.where(total > 0, top + np.log(safe), -np.inf))
    return Attended(np.concatenate(outs, axis=-2), np.concatenate(tops, axis=-1))
