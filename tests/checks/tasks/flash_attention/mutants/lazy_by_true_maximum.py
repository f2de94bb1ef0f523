# bug: rescaling waits until a maximum has risen by 5.5, and then takes the factor from the last maximum, not from the one in use
# caught by: accuracy, rescaling_direction
import numpy as np

PATIENCE = 5.5


class Accumulator:
    """Softmax sums of a tile of rows, kept relative to a maximum that is renewed seldom."""

    def __init__(self, rows, width):
        self.used = np.full((rows, 1), -np.inf)
        self.seen = np.full((rows, 1), -np.inf)
        self.total = np.zeros((rows, 1))
        self.out = np.zeros((rows, width))

    def take(self, scores, values):
        top = np.maximum(self.seen, scores.max(axis=1, keepdims=True))
        renew = (top - np.where(np.isfinite(self.used), self.used, -1e300) > PATIENCE) & np.isfinite(top)
        with np.errstate(invalid="ignore"):
            factor = np.where(renew, np.exp(np.minimum(self.seen - top, 0.0)), 1.0)
        factor = np.where(np.isfinite(factor), factor, 0.0)
        self.used = np.where(renew, top, self.used)
        weights = np.where(np.isfinite(scores), np.exp(scores - np.where(np.isfinite(self.used), self.used, 0.0)), 0.0)
        self.total = self.total * factor + weights.sum(axis=1, keepdims=True)
        self.out = self.out * factor + weights @ values
        self.seen = top

    def result(self):
        return self.out / np.where(self.total > 0, self.total, 1.0)


def flash_attention_fwd(Q, K, V, tile_size, causal=True):
    B, H, N, D = Q.shape
    O = np.empty_like(Q)
    for b, h in np.ndindex(B, H):
        for r in range(0, N, tile_size):
            rows = slice(r, min(r + tile_size, N))
            sums = Accumulator(rows.stop - r, D)
            for c in range(0, rows.stop if causal else N, tile_size):
                keys = slice(c, min(c + tile_size, N))
                scores = Q[b, h, rows] @ K[b, h, keys].T / np.sqrt(D)
                if causal:
                    scores[np.arange(keys.start, keys.stop)[None] > np.arange(rows.start, rows.stop)[:, None]] = -np.inf
                sums.take(scores, V[b, h, keys])
            O[b, h, rows] = sums.result()
    return O
