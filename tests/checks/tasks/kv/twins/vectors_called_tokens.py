# right: a layer that says it is one with a cache, has to be told that it is causal, and calls vectors tokens
# only: incremental_equals_full, growth
import numpy as np


class AttentionWithKVCache:
    def __init__(self, d_model, num_heads, is_causal, seed=3):
        rng = np.random.default_rng(seed)
        self.heads, self.causal = num_heads, is_causal
        self.w = rng.standard_normal((4, d_model, d_model)) * d_model**-0.5
        self.k = self.v = None

    def prefill(self, prompt_tokens):
        self.k = self.v = None
        return self._run(prompt_tokens)

    def decode(self, new_token):
        return self._run(new_token)

    def _run(self, x):
        b, t, e = x.shape
        q, k, v = ((x @ w).reshape(b, t, self.heads, -1).swapaxes(1, 2) for w in self.w[:3])
        self.k = k if self.k is None else np.concatenate([self.k, k], 2)
        self.v = v if self.v is None else np.concatenate([self.v, v], 2)
        scores = q @ self.k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        if self.causal:
            s = self.k.shape[2]
            scores = np.where(np.tri(t, s, s - t, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return (p / p.sum(-1, keepdims=True) @ self.v).swapaxes(1, 2).reshape(b, t, e) @ self.w[3]
