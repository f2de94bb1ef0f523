"""Decoder engine on top of the arena: feed() for prefill chunks, step() for one token of each running sequence."""
import numpy as np

from arena import ArenaFull, KVArena, StaleHandle


def attention(q, k, v, first):
    """q (H, n, D) at absolute positions first..; k, v (KVH, S, D) with S = first + n.  -> (n, H*D)"""
    h, n, d = q.shape
    kvh, s, _ = k.shape
    w = np.matmul(q.reshape(kvh, h // kvh * n, d), k.swapaxes(1, 2)).reshape(kvh, h // kvh, n, s)
    w *= np.float32(d ** -0.5)
    w[..., np.arange(s)[None, :] > first + np.arange(n)[:, None]] = -np.inf
    w -= w.max(-1, keepdims=True)
    np.exp(w, out=w)
    w /= w.sum(-1, keepdims=True)
    o = np.matmul(w.reshape(kvh, h // kvh * n, s), v).reshape(h, n, d)
    return o.transpose(1, 0, 2).reshape(n, h * d)


class Engine:
    def __init__(self, vocab=48, width=32, n_heads=4, n_kv=2, n_layers=2, n_pages=64, page=4, max_pos=256, seed=7):
        r = np.random.default_rng(seed)
        f = lambda *shape: (r.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
        self.n_heads, self.n_kv, self.dim = n_heads, n_kv, width // n_heads
        self.tok = r.standard_normal((vocab, width)).astype(np.float32)
        self.pos = (0.3 * r.standard_normal((max_pos, width))).astype(np.float32)
        kvw = n_kv * self.dim
        self.blocks = [(f(width, width + 2 * kvw), f(width, width), f(width, 2 * width), f(2 * width, width))
                       for _ in range(n_layers)]
        self.arena = KVArena(n_pages, page, n_layers, n_kv, self.dim)

    @staticmethod
    def _norm(x):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5))

    def feed(self, handle, ids):
        """Append ids to a sequence, return their logits (n, vocab).  A prompt may come in any number of pieces."""
        ids = np.asarray(ids, np.int64).ravel()
        n, h, d, kv = len(ids), self.n_heads, self.dim, self.n_kv
        first = int(self.arena.length[self.arena._row(handle)])
        if first + n > len(self.pos):
            raise ArenaFull(f"position {first + n - 1} is beyond max_pos {len(self.pos)}")
        self.arena.reserve(handle, n)
        x = self.tok[ids] + self.pos[first:first + n]
        for layer, (wqkv, wo, w1, w2) in enumerate(self.blocks):
            qkv = (self._norm(x) @ wqkv).reshape(n, h + 2 * kv, d).swapaxes(0, 1)
            self.arena.write(handle, layer, first, qkv[h:h + kv], qkv[h + kv:])
            k, v = self.arena.read(handle, layer, first + n)
            x = x + attention(np.ascontiguousarray(qkv[:h]), k, v, first) @ wo
            x = x + np.maximum(self._norm(x) @ w1, 0) @ w2
        self.arena.commit(handle, n)
        return self._norm(x) @ self.tok.T

    def step(self, feeds):
        """{handle: token} -> {handle: logits (vocab,)}; sequences not named are left alone."""
        return {handle: self.feed(handle, [token])[0] for handle, token in feeds.items()}

    def generate(self, prompt, n_new):
        handle = self.arena.open()
        try:
            logits, out = self.feed(handle, prompt)[-1], list(prompt)
            for _ in range(n_new):
                out.append(int(logits.argmax()))
                logits = self.step({handle: out[-1]})[handle]
            return out
        finally:
            self.arena.close(handle)

    def gib(self, tokens):
        return tokens * self.arena.bytes_per_token() / 2 ** 30
