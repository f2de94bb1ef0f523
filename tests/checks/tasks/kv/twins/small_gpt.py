# A decoder with positions, two layers and a cache inside; nothing else is offered.
# skips: cache_size_minimality (the cache is inside), isolation (the cache is inside), capacity (the cache is inside)
import numpy as np


def _softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class TinyGPT:
    def __init__(self, vocab_size, n_embd, n_head, n_layer, max_seq_len, seed=0, dtype=np.float64):
        g = np.random.default_rng(seed)
        new = lambda *s: g.normal(0, 0.3, s).astype(dtype)
        self.wte, self.wpe = new(vocab_size, n_embd), new(max_seq_len, n_embd)
        self.blocks = [(new(n_embd, 3 * n_embd), new(n_embd, n_embd), new(n_embd, n_embd)) for _ in range(n_layer)]
        self.n_head = n_head
        self.reset()

    def reset(self):
        self.past, self.lens = [None] * len(self.blocks), None

    def _split(self, x):
        B, T, E = x.shape
        return x.reshape(B, T, self.n_head, E // self.n_head).swapaxes(1, 2)

    def _forward(self, ids, lengths):
        ids = np.atleast_2d(ids)
        B, T = ids.shape
        if self.lens is None:
            self.lens = np.zeros(B, int)
        pos = self.lens[:, None] + np.arange(T)
        x = self.wte[ids] + self.wpe[np.minimum(pos, len(self.wpe) - 1)]
        for i, (qkv, proj, mlp) in enumerate(self.blocks):
            q, k, v = (self._split(part) for part in np.split(x @ qkv, 3, axis=-1))
            if self.past[i] is None:
                shape = (2, B, self.n_head, len(self.wpe), k.shape[-1])
                self.past[i] = np.zeros(shape, x.dtype)
            for b in range(B):
                at = slice(self.lens[b], self.lens[b] + lengths[b])
                self.past[i][0, b, :, at], self.past[i][1, b, :, at] = k[b, :, :lengths[b]], v[b, :, :lengths[b]]
            s = q @ self.past[i][0].swapaxes(-1, -2) / np.sqrt(k.shape[-1])
            s = np.where(np.arange(s.shape[-1]) <= pos[:, None, :, None], s, -np.inf)
            y = (_softmax(s) @ self.past[i][1]).swapaxes(1, 2).reshape(x.shape)
            x = x + y @ proj
            x = x + np.tanh(x @ mlp)
        self.lens = self.lens + lengths
        return x @ self.wte.T

    def prefill(self, prompt_ids, prompt_lengths=None):
        self.reset()
        B, T = np.shape(prompt_ids)
        lengths = np.full(B, T) if prompt_lengths is None else np.asarray(prompt_lengths)
        return self._forward(np.asarray(prompt_ids), lengths)[np.arange(B), lengths - 1]

    def decode(self, token_ids):
        token_ids = np.asarray(token_ids).reshape(-1, 1)
        return self._forward(token_ids, np.ones(len(token_ids), int))[:, -1]
