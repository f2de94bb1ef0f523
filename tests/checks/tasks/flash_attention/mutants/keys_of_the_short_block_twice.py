# bug: of blocks from the end the first, a short one, is as long as the others: its last keys count twice
# caught by: accuracy
import numpy as np


def blocks_from_the_end(length, size):
    return [(max(end - size, 0), max(end, min(size, length))) for end in range(length, 0, -size)]


def attend(q, k, v, rows, size, causal):
    width = q.shape[1]
    top = np.full(len(rows), -np.inf)
    total, mixed = np.zeros(len(rows)), np.zeros((len(rows), v.shape[1]))
    for start, end in blocks_from_the_end(len(k), size):
        if causal and start > rows[-1]:
            continue
        scores = q @ k[start:end].T / np.sqrt(width)
        if causal:
            scores = np.where(np.arange(start, end) <= rows[:, None], scores, -np.inf)
        new = np.maximum(top, scores.max(axis=1))
        safe = np.where(np.isfinite(new), new, 0)
        weights, factor = np.exp(scores - safe[:, None]), np.exp(top - safe)
        total = total * factor + weights.sum(axis=1)
        mixed = mixed * factor[:, None] + weights @ v[start:end]
        top = new
    return mixed / np.where(total > 0, total, 1)[:, None]


def flash_attention_forward(Q, K, V, tile_size, causal=True):
    out = np.empty_like(Q)
    for at in np.ndindex(Q.shape[:2]):
        for start in range(0, Q.shape[2], tile_size):
            rows = np.arange(start, min(start + tile_size, Q.shape[2]))
            out[at][rows] = attend(
                Q[at][rows].astype(float), K[at].astype(float), V[at].astype(float), rows, tile_size, causal
            )
    return out
