# bug: one step takes the longest row's position for all rows of a ragged batch
# caught by: variable_lengths
# passes: incremental_equals_full, gqa
"""GPT-2-style decoder with grouped-query attention, learned positions and a KV cache.

    model = CachedTransformer(vocab=50, width=32, layers=2, heads=4, kv_heads=2, context=128)
    logits = model.forward(ids)                  # (B, T) -> (B, T, V), no cache
    cache = model.new_cache(batch)
    last = model.prefill(ids, cache, lengths)    # (B, V): logits at each row's last prompt token
    last = model.decode(next_ids, cache)         # (B,) ids -> (B, V)
    texts = model.generate(prompts, 20)          # list of token lists in, list of continuations out
"""
import numpy as np

from cache import KVCache


def layer_norm(x, g, b, eps=1e-5):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * g + b


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi).astype(x.dtype) * (x + 0.044715 * x ** 3)))


def masked_softmax(scores, allowed):
    scores = np.where(allowed, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class CachedTransformer:
    def __init__(self, vocab=50, width=32, layers=2, heads=4, kv_heads=2, context=128, seed=0, dtype=np.float32):
        if width % heads or heads % kv_heads:
            raise ValueError("width must be a multiple of heads, heads a multiple of kv_heads")
        self.vocab, self.width, self.heads, self.kv_heads = vocab, width, heads, kv_heads
        self.head_dim, self.context, self.dtype = width // heads, context, np.dtype(dtype)
        rng = np.random.default_rng(seed)

        def init(*shape, scale=None):
            return (rng.standard_normal(shape) * (scale or shape[0] ** -0.5)).astype(dtype)

        kv_width = kv_heads * self.head_dim
        self.tok_emb, self.pos_emb = init(vocab, width, scale=1.0), init(context, width, scale=0.5)
        self.blocks = [
            {"ln1": (1 + init(width, scale=0.1), init(width, scale=0.1)),
             "ln2": (1 + init(width, scale=0.1), init(width, scale=0.1)),
             "qkv": init(width, width + 2 * kv_width), "proj": init(width, width),
             "up": init(width, 4 * width), "down": init(4 * width, width)}
            for _ in range(layers)]
        self.ln_f = (np.ones(width, dtype), np.zeros(width, dtype))
        self.head = init(width, vocab)

    # ------------------------------------------------------------------ building blocks
    def _split(self, qkv):
        """(B, T, *) -> q (B, T, KVH, G, D), k and v (B, T, KVH, D)."""
        B, T, _ = qkv.shape
        kvw = self.kv_heads * self.head_dim
        q, k, v = np.split(qkv, [self.width, self.width + kvw], axis=-1)
        q = q.reshape(B, T, self.kv_heads, self.heads // self.kv_heads, self.head_dim)
        return q, k.reshape(B, T, self.kv_heads, -1), v.reshape(B, T, self.kv_heads, -1)

    def _attend(self, q, k, v, allowed):
        """allowed: (B, T, S) boolean."""
        scores = np.einsum("btkgd,bskd->bkgts", q, k) / np.sqrt(self.head_dim).astype(self.dtype)
        p = masked_softmax(scores, allowed[:, None, None])
        return np.einsum("bkgts,bskd->btkgd", p, v).reshape(*q.shape[:2], self.width)

    def _mlp(self, x, blk):
        return x + gelu(layer_norm(x, *blk["ln2"]) @ blk["up"]) @ blk["down"]

    def _unembed(self, x):
        return layer_norm(x, *self.ln_f) @ self.head

    # ------------------------------------------------------------------ without a cache
    def forward(self, ids):
        """Logits (B, T, V) of whole sequences: what the cached path has to reproduce."""
        ids = np.atleast_2d(ids)
        T = ids.shape[1]
        x = self.tok_emb[ids] + self.pos_emb[:T]
        causal = np.tri(T, dtype=bool)[None]
        for blk in self.blocks:
            q, k, v = self._split(layer_norm(x, *blk["ln1"]) @ blk["qkv"])
            x = self._mlp(x + self._attend(q, k, v, causal) @ blk["proj"], blk)
        return self._unembed(x)

    # ------------------------------------------------------------------ with a cache
    def new_cache(self, batch):
        return KVCache(len(self.blocks), batch, self.kv_heads, self.head_dim, self.context, self.dtype)

    def prefill(self, ids, cache, lengths=None):
        """Fill an empty cache, or extend a filled one by a further chunk, with right-padded prompts (B, T).

        Returns (B, V): the logits after the last real token of every row.
        """
        ids = np.atleast_2d(ids)
        B, T = ids.shape
        lengths = np.full(B, T) if lengths is None else np.asarray(lengths)
        if lengths.min() < 1 or lengths.max() > T:
            raise ValueError("every row needs between 1 and T tokens")
        slots = cache.lengths[:, None] + np.arange(T)                       # (B, T)
        real = np.arange(T) < lengths[:, None]
        cache.ensure(int((cache.lengths + lengths).max()))
        S = int((cache.lengths + lengths).max())
        x = self.tok_emb[ids] + self.pos_emb[np.minimum(slots, self.context - 1)]
        rows, cols = np.nonzero(real)
        allowed = np.arange(S) <= np.where(real, slots, 0)[:, :, None]
        live = np.arange(S) < (cache.lengths + lengths)[:, None]
        for blk, store in zip(self.blocks, cache.layers):
            q, k, v = self._split(layer_norm(x, *blk["ln1"]) @ blk["qkv"])
            store.scatter(rows, slots[rows, cols], k[rows, cols], v[rows, cols])
            values = np.where(live[:, :, None, None], store.values[:, :S], 0)
            x = self._mlp(x + self._attend(q, store.keys[:, :S], values, allowed) @ blk["proj"], blk)
        cache.lengths += lengths
        return self._unembed(x[np.arange(B), lengths - 1])

    def decode(self, ids, cache):
        """One new token per sequence: ids (B,) -> logits (B, V).  O(S) work per step."""
        ids = np.asarray(ids).reshape(-1)
        rows, slots = np.arange(ids.size), cache.lengths.copy()
        S = len(cache) + 1
        cache.ensure(S)
        x = (self.tok_emb[ids] + self.pos_emb[S - 1])[:, None]
        live = np.arange(S) <= slots[:, None]                               # (B, S)
        for blk, store in zip(self.blocks, cache.layers):
            q, k, v = self._split(layer_norm(x, *blk["ln1"]) @ blk["qkv"])
            store.scatter(rows, slots, k[:, 0], v[:, 0])
            values = np.where(live[:, :, None, None], store.values[:, :S], 0)
            x = self._mlp(x + self._attend(q, store.keys[:, :S], values, live[:, None]) @ blk["proj"], blk)
        cache.lengths += 1
        return self._unembed(x[:, 0])

    def generate(self, prompts, max_new_tokens, eos=None):
        """Greedy continuation of a list of prompts (lists of ids, any lengths >= 1)."""
        lengths = np.array([len(p) for p in prompts])
        ids = np.zeros((len(prompts), lengths.max()), dtype=np.intp)
        for row, p in zip(ids, prompts):
            row[:len(p)] = p
        cache = self.new_cache(len(prompts))
        logits = self.prefill(ids, cache, lengths)
        out, done = [[] for _ in prompts], np.zeros(len(prompts), dtype=bool)
        for i in range(max_new_tokens):
            nxt = logits.argmax(-1)
            for b in np.flatnonzero(~done):
                out[b].append(int(nxt[b]))
            done |= eos is not None and nxt == eos
            if done.all() or i + 1 == max_new_tokens:
                break
            logits = self.decode(nxt, cache)
        return out
