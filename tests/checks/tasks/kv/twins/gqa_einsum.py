# right: an object made from both numbers of heads; (batch, tokens, heads, width), no head is ever repeated
# passes: gqa
# skips: isolation (nothing past a length), variable_lengths (takes no lengths)
import numpy as np


class GroupedQueryAttention:
    def __init__(self, n_heads, n_kv_heads, head_dim):
        self.h, self.g, self.d = n_heads, n_kv_heads, head_dim

    def __call__(self, query, key, value):
        B, T, _, _ = query.shape
        q = query.reshape(B, T, self.g, self.h // self.g, self.d)
        s = np.einsum("btgrd,bsgd->bgrts", q, key) / np.sqrt(self.d)
        S = key.shape[1]
        s = np.where(np.arange(S) <= np.arange(S - T, S)[:, None], s, -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        return np.einsum("bgrts,bsgd->btgrd", p / p.sum(axis=-1, keepdims=True), value).reshape(query.shape)


def new_kv_cache(batch, n_kv_heads, head_dim):
    return tuple(np.zeros((batch, 0, n_kv_heads, head_dim), np.float32) for _ in "kv")


def attention_with_cache(query, key, value, past):
    k, v = (np.concatenate([old, new], axis=1) for old, new in zip(past, (key, value)))
    heads, shared, width = query.shape[2], k.shape[2], k.shape[3]
    return GroupedQueryAttention(heads, shared, width)(query, k, v), (k, v)
