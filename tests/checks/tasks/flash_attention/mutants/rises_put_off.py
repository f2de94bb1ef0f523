# bug: a rise is put off while it is at most 12 above the last maximum, not above the reference: many of them overflow exp
# caught by: rescaling_direction
import numpy as np

PUT_OFF = 12.0


def flash_attention(q, k, v, block=32, causal=False):
    """(B, H, N, D) three times, one tile of keys after the other for all queries of a tile."""
    n, scale = q.shape[2], q.shape[3] ** -0.5
    out = np.empty_like(v)
    for start in range(0, n, block):
        rows = np.arange(start, min(start + block, n))
        reference = last = np.full((*q.shape[:2], len(rows), 1), -np.inf, q.dtype)
        total, mixed = np.zeros_like(reference), np.zeros((*q.shape[:2], len(rows), v.shape[3]), v.dtype)
        for first in range(0, rows[-1] + 1 if causal else n, block):
            columns = np.arange(first, min(first + block, n))
            scores = (q[:, :, rows] @ k[:, :, columns].swapaxes(-1, -2)) * q.dtype.type(scale)
            if causal:
                scores = np.where(columns <= rows[:, None], scores, q.dtype.type(-np.inf))
            top = np.maximum(last, scores.max(axis=-1, keepdims=True))
            unseen = np.isneginf(reference)
            renew = ~np.isneginf(top) & (unseen | (top - np.where(unseen, 0, last) > PUT_OFF))
            fresh = np.where(renew, top, reference)
            base = np.where(np.isneginf(fresh), 0, fresh)
            factor = np.where(unseen, 0, np.exp(np.where(unseen, 0, reference) - base))
            weights = np.exp(scores - base)
            total = total * factor + weights.sum(axis=-1, keepdims=True)
            mixed = mixed * factor + weights @ v[:, :, columns]
            reference, last = fresh, top
        out[:, :, rows] = mixed / np.where(total > 0, total, 1)
    return out
