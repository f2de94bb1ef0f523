# bug: a tile's maximum is taken before the causal mask
# caught by: causality
# passes: nan_masked_tiles
"""Flash attention, step by step (forward pass).

The online softmax keeps, for each query row, three running quantities

    shift   the reference that is subtracted from every score before exp
    total   sum_j exp(s_j - shift)
    mix     sum_j exp(s_j - shift) * v_j

and when a tile raises the shift, both sums are multiplied by exp(old - new) <= 1.
Arithmetic is float64 throughout; the result is returned in the dtype of Q.
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class RowState:
    """Running softmax statistics of a tile of query rows, for all batches and heads."""

    shift: np.ndarray
    total: np.ndarray
    mix: np.ndarray
    tiles_seen: int = field(default=0)

    @classmethod
    def empty(cls, lead, rows, width):
        return cls(shift=np.full((*lead, rows), -np.inf),
                   total=np.zeros((*lead, rows)),
                   mix=np.zeros((*lead, rows, width)))

    def absorb(self, scores, values, allowed=None):
        """Fold one tile of scores (..., rows, cols) and values (..., cols, width) into the state.

        ``allowed`` is a boolean (rows, cols) array, or None when the tile is fully visible.
        """
        new_shift = np.maximum(self.shift, scores.max(axis=-1))
        base = np.where(np.isneginf(new_shift), 0.0, new_shift)   # rows that saw nothing yet
        weights = np.exp(scores - base[..., None])
        if allowed is not None:
            weights *= allowed
        decay = np.exp(self.shift - base)
        self.total = decay * self.total + weights.sum(axis=-1)
        self.mix = decay[..., None] * self.mix + np.einsum("...ij,...jd->...id", weights, values)
        self.shift = new_shift
        self.tiles_seen += 1

    def output(self):
        """mix / total, and 0 for a row that has not seen any key."""
        seen = self.total > 0
        return np.where(seen[..., None], self.mix / np.where(seen, self.total, 1.0)[..., None], 0.0)

    def logsumexp(self):
        seen = self.total > 0
        return np.where(seen, self.shift + np.log(np.where(seen, self.total, 1.0)), -np.inf)


def visible_tiles(q_start, q_stop, n_keys, tile_size, causal):
    """Yield (k_start, k_stop, allowed) for every key tile the query tile has to look at."""
    last = min(q_stop, n_keys) if causal else n_keys
    for k_start in range(0, last, tile_size):
        k_stop = min(k_start + tile_size, last)
        allowed = None
        if causal and k_stop > q_start + 1:
            allowed = np.arange(k_start, k_stop) <= np.arange(q_start, q_stop)[:, None]
        yield k_start, k_stop, allowed


def flash_attention_fwd(Q, K, V, tile_size=32, causal=True, return_lse=False):
    """Tiled softmax(Q K^T / sqrt(D)) V.

    Parameters
    ----------
    Q, K, V : arrays (B, H, N, D)
    tile_size : rows of a query tile and of a key tile; need not divide N
    causal : query i sees the keys 0..i only
    return_lse : also return the (B, H, N) log-sum-exp of the scaled scores
    """
    Q, K, V = np.asarray(Q), np.asarray(K), np.asarray(V)
    *lead, n, d = Q.shape
    width = V.shape[-1]
    out = np.empty((*lead, n, width), dtype=Q.dtype if Q.dtype.kind == "f" else float)
    lse = np.empty((*lead, n)) if return_lse else None
    for q_start in range(0, n, tile_size):
        q_stop = min(q_start + tile_size, n)
        q = Q[..., q_start:q_stop, :].astype(np.float64) / np.sqrt(d)
        state = RowState.empty(lead, q_stop - q_start, width)
        for k_start, k_stop, allowed in visible_tiles(q_start, q_stop, K.shape[-2], tile_size, causal):
            k = K[..., k_start:k_stop, :].astype(np.float64)
            v = V[..., k_start:k_stop, :].astype(np.float64)
            state.absorb(q @ k.swapaxes(-1, -2), v, allowed)
        out[..., q_start:q_stop, :] = state.output()
        if return_lse:
            lse[..., q_start:q_stop] = state.logsumexp()
    return (out, lse) if return_lse else out
