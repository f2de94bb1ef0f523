# bug: the layer's own causal mask lets each token see the next one; a further mask may be handed in
# caught by: incremental_equals_full
import numpy as np


class Layer:
    def __init__(self, embed_dim, num_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.heads = num_heads
        self.proj = rng.standard_normal((4, embed_dim, embed_dim)) * embed_dim**-0.5

    def _causal(self, t, s):
        return np.tri(t, s, s - t + 1, dtype=bool)

    def forward(self, x, mask=None, kv_cache=None):
        b, t, e = x.shape
        q, k, v = ((x @ w).reshape(b, t, self.heads, -1).transpose(0, 2, 1, 3) for w in self.proj[:3])
        if kv_cache is not None:
            k, v = np.concatenate([kv_cache[0], k], 2), np.concatenate([kv_cache[1], v], 2)
        scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
        scores = np.where(self._causal(t, k.shape[2]), scores, -np.inf)
        if mask is not None:
            scores = scores + mask
        p = np.exp(scores - scores.max(-1, keepdims=True))
        out = (p / p.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(b, t, e) @ self.proj[3]
        return out, (k, v)
