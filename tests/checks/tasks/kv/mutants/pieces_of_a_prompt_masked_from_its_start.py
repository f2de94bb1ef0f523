# bug: from the second piece of a long prompt on the mask is that of the first
# caught by: incremental_equals_full
# only: incremental_equals_full, growth
import numpy as np

PIECE = 256


class CachedAttention:
    def __init__(self, d_model, n_heads, seed=0):
        draw = np.random.default_rng(seed)
        self.mats, self.heads = draw.normal(size=(4, d_model, d_model)) / np.sqrt(d_model), n_heads
        self.kv = None

    def _run(self, x):
        batch, count, _ = x.shape
        q, k, v = ((x @ w).reshape(batch, count, self.heads, -1).transpose(0, 2, 1, 3) for w in self.mats[:3])
        past = 0 if self.kv is None else self.kv.shape[3]
        self.kv = np.stack([k, v]) if self.kv is None else np.concatenate([self.kv, np.stack([k, v])], 3)
        scores = q @ self.kv[0].swapaxes(2, 3) / np.sqrt(q.shape[-1])
        scores = np.where(np.tri(count, past + count, past if count == 1 else 0, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        out = p / p.sum(-1, keepdims=True) @ self.kv[1]
        return out.transpose(0, 2, 1, 3).reshape(batch, count, -1) @ self.mats[3]

    def prefill(self, x):
        """A whole prompt, (batch, tokens, d_model)."""
        self.kv = None
        return np.concatenate([self._run(x[:, at : at + PIECE]) for at in range(0, x.shape[1], PIECE)], 1)

    def decode(self, x):
        """One token, (batch, 1, d_model)."""
        return self._run(x)
