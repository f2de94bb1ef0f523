# style: a frozen config that refuses what does not divide; the layer is handed a cache made of the same config
# passes: gqa
# skips: variable_lengths
# passes: capacity
# warns: cache_size_minimality (the cache by itself stores float64)
# skips: paged, quantized, memory_model, purity
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class AttentionConfig:
    hidden_size: int
    num_attention_heads: int
    num_key_value_heads: int
    max_position_embeddings: int = 64
    def __post_init__(self):
        if self.hidden_size % self.num_attention_heads: raise ValueError("hidden_size % heads")
        if self.num_attention_heads % self.num_key_value_heads: raise ValueError("heads % kv heads")
    @property
    def head_dim(self): return self.hidden_size // self.num_attention_heads

class StaticCache:
    def __init__(self, config: AttentionConfig, batch_size: int):
        s = (batch_size, config.num_key_value_heads, config.max_position_embeddings, config.head_dim)
        self.key, self.value, self.seen = np.zeros(s), np.zeros(s), 0
    def update(self, k, v):
        e = self.seen + k.shape[2]
        if e > self.key.shape[2]: raise IndexError("static cache exhausted")
        self.key[:, :, self.seen:e], self.value[:, :, self.seen:e] = k, v
        self.seen = e
        return self.key[:, :, :e], self.value[:, :, :e]

class Attention:
    def __init__(self, config: AttentionConfig, seed: int = 0):
        self.config = config
        r = np.random.default_rng(seed)
        d, kv = config.hidden_size, config.num_key_value_heads * config.head_dim
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (r.normal(0, d ** -0.5, s) for s in ((d, d), (d, kv), (d, kv), (d, d)))
    def forward(self, hidden_states, past_key_value):
        B, T, _ = hidden_states.shape
        c = self.config
        sp = lambda x: x.reshape(B, T, -1, c.head_dim).transpose(0, 2, 1, 3)
        q = sp(hidden_states @ self.q_proj)
        k, v = past_key_value.update(sp(hidden_states @ self.k_proj), sp(hidden_states @ self.v_proj))
        g = c.num_attention_heads // c.num_key_value_heads
        k, v = np.repeat(k, g, 1), np.repeat(v, g, 1)
        w = q @ k.transpose(0, 1, 3, 2) / np.sqrt(c.head_dim)
        S = k.shape[2]
        w = np.where(np.arange(S)[None] <= np.arange(S - T, S)[:, None], w, -np.inf)
        w = np.exp(w - w.max(-1, keepdims=True)); w /= w.sum(-1, keepdims=True)
        return (w @ v).transpose(0, 2, 1, 3).reshape(B, T, -1) @ self.o_proj
