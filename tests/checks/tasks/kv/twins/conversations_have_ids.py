# style: a prompt opens a conversation and gives logits and its id; a step takes a token and the id
# only: incremental_equals_full, growth
import numpy as np


class ToyDecoder:
    """A small decoder whose prompt hands out what its steps go on with."""

    def __init__(self, vocab_size=40, embed_dim=32, num_heads=4, num_layers=2, max_seq_len=64, seed=0):
        rng = np.random.default_rng(seed)
        self.talks, self.last_id = {}, 6
        self.num_heads, self.emb = num_heads, rng.normal(size=(vocab_size, embed_dim))
        self.pos = rng.normal(size=(max_seq_len, embed_dim))
        self.layers = rng.normal(size=(num_layers, 4, embed_dim, embed_dim)) / np.sqrt(embed_dim)

    def prefill(self, prompt):
        """Opens a conversation: logits (V,) behind the prompt, and its id."""
        shape = len(self.pos), self.num_heads, self.emb.shape[1] // self.num_heads
        self.last_id += 1
        self.talks[self.last_id] = talk = Session(len(self.layers), 1, *shape)
        return self._run(np.asarray(prompt)[None], talk)[0, -1], self.last_id

    def decode(self, token, conversation):
        """Logits (V,) behind one more token of a conversation."""
        return self._run(np.array([[token]]), self.talks[conversation])[0, -1]

    def _run(self, ids, req):
        (batch, count), start = ids.shape, req.used
        x = self.emb[ids] + self.pos[start : start + count]
        for layer, (wq, wk, wv, wo) in enumerate(self.layers):
            q, *new = ((x @ w).reshape(batch, count, self.num_heads, -1) for w in (wq, wk, wv))
            for slab, rows in zip(req.slabs, new, strict=True):
                slab[layer, :, start : start + count] = rows
            k, v = (slab[layer, :, : start + count] for slab in req.slabs)
            scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
            scores = np.where(np.tri(count, start + count, start, dtype=bool), scores, -np.inf)
            p = np.exp(scores - scores.max(axis=-1, keepdims=True))
            p /= p.sum(axis=-1, keepdims=True)
            x = x + np.einsum("bhts,bshd->bthd", p, v).reshape(batch, count, -1) @ wo
        req.used += count
        return x @ self.emb.T


class Session:
    """What one batch has said so far."""

    def __init__(self, layers, batch, room, heads, width):
        self.slabs = np.zeros((2, layers, batch, room, heads, width))
        self.used = 0
