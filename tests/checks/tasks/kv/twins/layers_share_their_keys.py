# style: layers in pairs; the second of each attends over keys and values of the first, and is given no cache
# only: cache_size_minimality, incremental_equals_full
# skips: cache_size_minimality (the cache goes in with the tokens, and holds nothing that can be fed)
import numpy as np


class PairedDecoder:
    def __init__(self, vocab_size, d_model, n_heads, n_layers, max_seq_len, seed=0):
        draw = np.random.default_rng(seed).standard_normal
        self.heads, self.room = n_heads, max_seq_len
        self.table = draw((vocab_size, d_model)).astype(np.float32)
        make = lambda *more: (draw((d_model, *more)) / d_model**0.5).astype(np.float32)
        self.layers = [
            {"q": make(d_model), "o": make(d_model), **({} if i % 2 else {"kv": make(2, d_model)})}
            for i in range(n_layers)
        ]

    def new_cache(self, batch_size):
        width = self.table.shape[1] // self.heads
        kept = []
        for layer in self.layers:
            own = np.zeros((2, batch_size, self.heads, self.room, width), np.float32) if "kv" in layer else kept[-1]
            kept.append(own)
        return {"layers": kept, "n": 0}

    def prefill(self, ids, cache):
        return self(np.asarray(ids), cache)

    def decode(self, ids, cache):
        return self(np.asarray(ids)[:, None], cache)

    def __call__(self, ids, cache):
        b, t = ids.shape
        n, end = cache["n"], cache["n"] + t
        cut = lambda y: y.reshape(b, t, self.heads, -1).swapaxes(1, 2)
        x = self.table[ids] + np.sin(np.arange(n, end, dtype=np.float32))[:, None]
        for layer, kept in zip(self.layers, cache["layers"]):
            if "kv" in layer:
                for part in (0, 1):
                    kept[part, :, :, n:end] = cut(x @ layer["kv"][:, part])
            k, v = kept[:, :, :, :end]
            s = cut(x @ layer["q"]) @ k.swapaxes(2, 3) * np.float32(k.shape[-1] ** -0.5)
            s = np.where(np.arange(end) <= np.arange(n, end)[:, None], s, np.float32(-np.inf))
            p = np.exp(s - s.max(-1, keepdims=True))
            x = x + (p / p.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(b, t, -1) @ layer["o"]
        cache["n"] = end
        return (x @ self.table.T)[:, -1]
