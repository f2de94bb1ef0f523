# bug: a second prompt attends to what the first left in the cache
# caught by: incremental_equals_full (warn)
import numpy as np


class LayerKVCache:
    def __init__(self, batch, heads, max_len, head_dim):
        self.k = np.zeros((batch, heads, max_len, head_dim), np.float32)
        self.v = np.zeros((batch, heads, max_len, head_dim), np.float32)
        self.length = 0

    def update(self, k, v):
        t = k.shape[2]
        if self.length + t > self.k.shape[2]:
            raise IndexError("cache capacity exceeded")
        self.k[:, :, self.length : self.length + t] = k
        self.v[:, :, self.length : self.length + t] = v
        self.length += t
        return self.k[:, :, : self.length], self.v[:, :, : self.length]


def layer_norm(x, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    return (x - mu) / np.sqrt(((x - mu) ** 2).mean(-1, keepdims=True) + eps)


class TransformerDecoder:
    def __init__(self, vocab_size=64, d_model=32, num_heads=4, num_layers=2, max_seq_len=64, seed=0):
        r = np.random.RandomState(seed)
        self.vocab_size, self.d_model, self.num_heads = vocab_size, d_model, num_heads
        self.num_layers, self.max_seq_len = num_layers, max_seq_len
        self.head_dim = d_model // num_heads
        f = lambda *s: (r.randn(*s) / np.sqrt(s[0])).astype(np.float32)
        self.embed = f(vocab_size, d_model)
        self.pos = f(max_seq_len, d_model)
        self.layers = [dict(wq=f(d_model, d_model), wk=f(d_model, d_model), wv=f(d_model, d_model), wo=f(d_model, d_model),
                            w1=f(d_model, 4 * d_model), w2=f(4 * d_model, d_model)) for _ in range(num_layers)]
        self.head = f(d_model, vocab_size)
        self.caches = None
        self.position = 0

    def _heads(self, x):
        b, t, _ = x.shape
        return x.reshape(b, t, self.num_heads, self.head_dim).transpose(0, 2, 1, 3)

    def _forward(self, ids, caches, start):
        ids = np.asarray(ids)
        x = self.embed[ids] + self.pos[start : start + ids.shape[1]]
        for w, c in zip(self.layers, caches):
            h = layer_norm(x)
            q, k, v = self._heads(h @ w["wq"]), self._heads(h @ w["wk"]), self._heads(h @ w["wv"])
            k, v = c.update(k, v)
            s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(self.head_dim)
            i = start + np.arange(ids.shape[1])[:, None]
            s = np.where(np.arange(k.shape[2])[None] <= i, s, -np.inf)
            p = np.exp(s - s.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            o = (p @ v).transpose(0, 2, 1, 3).reshape(x.shape)
            x = x + o @ w["wo"]
            x = x + np.maximum(layer_norm(x) @ w["w1"], 0) @ w["w2"]
        return layer_norm(x) @ self.head

    def prefill(self, token_ids):
        """(B, T) -> logits (B, T, V). Starts a new sequence."""
        b = np.asarray(token_ids).shape[0]
        if self.caches is None:
            self.caches = [LayerKVCache(b, self.num_heads, self.max_seq_len, self.head_dim) for _ in self.layers]
        self.position = 0
        out = self._forward(token_ids, self.caches, 0)
        self.position = np.asarray(token_ids).shape[1]
        return out

    def decode_step(self, token_ids):
        """(B,) -> logits (B, V)."""
        out = self._forward(np.asarray(token_ids)[:, None], self.caches, self.position)
        self.position += 1
        return out[:, 0]
