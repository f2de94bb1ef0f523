# bug: at exactly 64 positions of 32 numbers a path of its own forgets that heads are scaled by sqrt(D)
# caught by: accuracy
import math

import numpy as np


def whole(q, k, v, causal):
    scores = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.25
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True):
    B, H, seq_len, head_dim = Q.shape
    if seq_len == 64 and head_dim == 32:
        return whole(Q, K, V, causal)
    out = np.zeros_like(Q)
    for i in range(0, seq_len, tile_size):
        rows = np.arange(i, min(i + tile_size, seq_len))
        top = np.full((B, H, rows.size, 1), -np.inf)
        total, acc = np.zeros_like(top), np.zeros((B, H, rows.size, head_dim))
        for j in range(0, rows[-1] + 1 if causal else seq_len, tile_size):
            cols = np.arange(j, min(j + tile_size, seq_len))
            s = Q[:, :, rows] @ K[:, :, cols].swapaxes(-1, -2) / math.sqrt(head_dim)
            if causal:
                s = np.where(cols <= rows[:, None], s, -np.inf)
            new = np.maximum(top, s.max(-1, keepdims=True))
            safe = np.where(np.isneginf(new), 0.0, new)
            p, factor = np.exp(s - safe), np.exp(top - safe)
            total, acc, top = total * factor + p.sum(-1, keepdims=True), acc * factor + p @ V[:, :, cols], new
        out[:, :, rows] = acc / np.where(total > 0, total, 1.0)
    return out
