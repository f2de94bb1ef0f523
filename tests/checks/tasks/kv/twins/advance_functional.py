# style: a frozen cache that functions answer with a new one of; after all layers its lengths move, row by row
# passes: incremental_equals_full, variable_lengths, isolation, capacity, gqa
# skips: paged, quantized, memory_model
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Past:
    """keys[l], values[l] (B, G, capacity, D); filled (B,), the same for every layer."""

    keys: tuple
    values: tuple
    filled: np.ndarray


def new_cache(num_layers, batch_size, num_kv_heads, max_seq_len, head_dim, dtype=np.float32):
    def blank():
        return tuple(
            np.zeros((batch_size, num_kv_heads, max_seq_len, head_dim), dtype) for _ in range(num_layers)
        )

    return Past(blank(), blank(), np.zeros(batch_size, int))


def _real(past, tokens, new_lens):
    lens = np.broadcast_to(tokens, past.filled.shape) if new_lens is None else np.asarray(new_lens)
    if (past.filled + lens).max() > past.keys[0].shape[2]:
        raise OverflowError(f"{past.filled + lens} tokens, room for {past.keys[0].shape[2]}")
    return lens


def insert(past, layer, key, value, new_lens=None):
    """key, value (B, G, T, D) behind what is filled; nothing counts as filled before bump()."""
    lens, changed = _real(past, key.shape[2], new_lens), []
    for old, new in ((past.keys, key), (past.values, value)):
        buffer = old[layer].copy()
        for row, (start, n) in enumerate(zip(past.filled, lens)):
            buffer[row, :, start : start + n] = new[row, :, :n]
        changed.append((*old[:layer], buffer, *old[layer + 1 :]))
    return replace(past, keys=changed[0], values=changed[1])


def bump(past, new_lens):
    """Once, when every layer has inserted and attended."""
    return replace(past, filled=past.filled + new_lens)


def attend(query, past, layer):
    """query (B, H, T, D), of the tokens that were inserted last."""
    b, h, t, d = query.shape
    k, v = past.keys[layer], past.values[layer]
    shared = query.reshape(b, k.shape[1], -1, t, d)
    scores = np.einsum("bgrtd,bgsd->bgrts", shared, k) / np.sqrt(d)
    last = past.filled[:, None] + np.arange(t)
    hidden = np.arange(k.shape[2]) > last[:, :, None]
    scores = np.where(hidden[:, None, None], -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bgrts,bgsd->bgrtd", weights, v).reshape(b, h, t, d)
