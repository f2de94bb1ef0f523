# bug: heads that share a key are given copies of it before the past is handed back: nothing is saved
# caught by: cache_size_minimality
# passes: incremental_equals_full, gqa
import numpy as np


def copies(x, times):
    """(B, G, S, D) -> (B, G * times, S, D)."""
    batch, groups, count, width = x.shape
    wide = np.broadcast_to(x[:, :, None], (batch, groups, times, count, width))
    return wide.reshape(batch, groups * times, count, width)


class GroupedQueryAttention:
    """Attention of ``n_heads`` queries over ``n_kv_heads`` keys, with the usual past."""

    def __init__(self, d_model, n_heads, n_kv_heads=None, seed=0, dtype=np.float32):
        self.n_heads = n_heads
        self.groups = n_kv_heads if n_kv_heads is not None else n_heads
        self.d_head = d_model // n_heads
        rng = np.random.default_rng(seed)

        def weight(columns):
            return rng.normal(0, d_model**-0.5, (d_model, columns)).astype(dtype)

        self.w_q = weight(d_model)
        self.w_k = weight(self.groups * self.d_head)
        self.w_v = weight(self.groups * self.d_head)
        self.w_o = weight(d_model)

    def __call__(self, x, past_key_value=None, use_cache=True):
        batch, count, width = x.shape
        q, k, v = (
            np.moveaxis((x @ w).reshape(batch, count, -1, self.d_head), 2, 1)
            for w in (self.w_q, self.w_k, self.w_v)
        )
        k, v = copies(k, self.n_heads // self.groups), copies(v, self.n_heads // self.groups)
        before = 0
        if past_key_value is not None:
            before = past_key_value[0].shape[2]
            k = np.concatenate((past_key_value[0], k), axis=2)
            v = np.concatenate((past_key_value[1], v), axis=2)
        logits = np.einsum("bhqd,bhkd->bhqk", q, k) * self.d_head**-0.5
        hidden = np.triu(np.ones((count, before + count), bool), before + 1)
        logits = np.where(hidden, -1e30, logits)
        p = np.exp(logits - logits.max(-1, keepdims=True))
        p = p / p.sum(-1, keepdims=True)
        y = np.einsum("bhqk,bhkd->bqhd", p, v).reshape(batch, count, width).astype(x.dtype) @ self.w_o
        return y, ((k, v) if use_cache else None)
