# style: an estimator: keys and values are fitted, queries transformed; rescales when a maximum has outgrown by 2^8
"""Flash attention with the habits of an estimator library.

    att = FlashAttentionEstimator(tile_size=64, causal=True).fit(K, V)
    O = att.transform(Q)

Keys and values are what is *fitted*; queries are what is *transformed*.  The
softmax runs in base 2 and rescales lazily: the reference exponent of a row is
only moved when the running maximum has outgrown it by more than `slack`
(so weights stay below 2**slack and cannot overflow).  The final
division uses the same reference, hence the result is exact all the same.
"""
import numpy as np

LOG2_E = 1.4426950408889634


class FlashAttentionEstimator:
    """Tiled softmax attention.

    Parameters
    ----------
    tile_size : rows per tile, for queries and keys alike.
    causal : query i sees keys 0..i.
    slack : how far (in powers of two) a row maximum may outgrow its reference
        before the accumulators are rescaled; 0 gives the textbook recurrence.

    Attributes (after transform)
    ----------------------------
    log_partition_ : (B, H, N) log-sum-exp of every row, -inf where a row sees nothing.
    n_rescales_, n_tiles_ : how many tiles had to rescale, out of how many.
    """

    def __init__(self, *, tile_size=64, causal=True, slack=8.0):
        self.tile_size = tile_size
        self.causal = causal
        self.slack = slack

    def get_params(self):
        return {"tile_size": self.tile_size, "causal": self.causal, "slack": self.slack}

    def set_params(self, **params):
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"unknown parameter {name!r}")
            setattr(self, name, value)
        return self

    def fit(self, K, V):
        """Remember keys and values (by reference)."""
        K, V = np.asarray(K), np.asarray(V)
        if K.ndim != 4 or K.shape != V.shape:
            raise ValueError(f"K and V must be equal-shaped (B, H, N, D), got {K.shape} and {V.shape}")
        if self.tile_size < 1:
            raise ValueError("tile_size must be positive")
        self.keys_, self.values_ = K, V
        return self

    def transform(self, Q):
        """Attend from Q (B, H, N, D); returns an array of Q's shape and dtype."""
        if not hasattr(self, "keys_"):
            raise RuntimeError("fit(K, V) first")
        Q = np.asarray(Q)
        if Q.shape != self.keys_.shape:
            raise ValueError("Q must have the shape of the fitted keys")
        out = np.zeros(Q.shape, dtype=Q.dtype if Q.dtype.kind == "f" else float)
        self.log_partition_ = np.full(Q.shape[:3], -np.inf)
        self.n_rescales_ = self.n_tiles_ = 0
        N = Q.shape[2]
        for b, h in np.ndindex(*Q.shape[:2]):
            for lo in range(0, N, self.tile_size):
                hi = min(lo + self.tile_size, N)
                acc, mass, ref = self._absorb(Q[b, h, lo:hi], self.keys_[b, h], self.values_[b, h], lo)
                live = mass > 0.0
                out[b, h, lo:hi][live] = acc[live] / mass[live, None]
                self.log_partition_[b, h, lo:hi][live] = (ref[live] + np.log2(mass[live])) / LOG2_E
        return out

    def fit_transform(self, Q, K, V):
        return self.fit(K, V).transform(Q)

    def _absorb(self, q, K, V, lo):
        """Stream every visible key tile past the query rows lo.. ."""
        rows, dim = q.shape
        q = q.astype(np.float64) * (LOG2_E / np.sqrt(dim))
        ref = np.full(rows, -np.inf)         # exponent that weights are relative to
        mass = np.zeros(rows)
        acc = np.zeros((rows, dim))
        last = lo + rows if self.causal else K.shape[0]
        for a in range(0, last, self.tile_size):
            z = min(a + self.tile_size, last)      # the diagonal tile ends with the queries
            bits = q @ K[a:z].astype(np.float64).T
            if self.causal and z - 1 > lo:
                bits[np.arange(a, z) > np.arange(lo, lo + rows)[:, None]] = -np.inf
            peak = bits.max(axis=1)
            grown = peak > ref + self.slack
            self.n_tiles_ += 1
            if grown.any():
                self.n_rescales_ += 1
                shrink = np.exp2(ref[grown] - peak[grown])      # 0 on first contact
                mass[grown] *= shrink
                acc[grown] *= shrink[:, None]
                ref[grown] = peak[grown]
            anchor = np.where(np.isneginf(ref), 0.0, ref)[:, None]
            w = np.exp2(bits - anchor)
            mass += w.sum(axis=1)
            acc += w @ V[a:z].astype(np.float64)
        return acc, mass, ref
