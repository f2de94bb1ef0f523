# style: a cache of lists that grow, a plain attention with an additive mask, and a step over both
# skips: isolation (it holds what came in), variable_lengths, gqa, paged, quantized, memory_model
# skips: purity
import numpy as np

class DynamicCache:
    def __init__(self):
        self.key_cache, self.value_cache = [], []

    def update(self, key_states, value_states, layer_idx):
        if len(self.key_cache) <= layer_idx:
            self.key_cache.append(key_states); self.value_cache.append(value_states)
        else:
            self.key_cache[layer_idx] = np.concatenate([self.key_cache[layer_idx], key_states], axis=-2)
            self.value_cache[layer_idx] = np.concatenate([self.value_cache[layer_idx], value_states], axis=-2)
        return self.key_cache[layer_idx], self.value_cache[layer_idx]

    def get_seq_length(self, layer_idx=0):
        return 0 if len(self.key_cache) <= layer_idx else self.key_cache[layer_idx].shape[-2]

    def crop(self, max_length):
        self.key_cache = [k[..., :max_length, :] for k in self.key_cache]
        self.value_cache = [v[..., :max_length, :] for v in self.value_cache]

def eager_attention_forward(query, key, value, attention_mask=None, scaling=None):
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
    w = query @ np.swapaxes(key, -1, -2) * scaling
    if attention_mask is not None:
        w = w + attention_mask
    w = np.exp(w - w.max(-1, keepdims=True))
    return w / w.sum(-1, keepdims=True) @ value

def decode_attention(query, key, value, cache, layer_idx):
    q_len, past = query.shape[-2], cache.get_seq_length(layer_idx)
    k, v = cache.update(key, value, layer_idx)
    mask = np.where(np.arange(past + q_len)[None] > np.arange(past, past + q_len)[:, None], -np.inf, 0.0)
    return eager_attention_forward(query, k, v, mask)
