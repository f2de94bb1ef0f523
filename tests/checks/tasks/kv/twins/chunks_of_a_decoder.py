# A decoder whose prompt may go in as so many chunks; closures over a dict, positions, two layers.
# passes: chunked_prefill
# skips: isolation (the cache is inside), capacity (the cache is inside), variable_lengths (takes no lengths)
import numpy as np


class Decoder:
    def __init__(self, vocab, d_model, num_heads, max_len, num_layers=2, seed=0):
        r = np.random.RandomState(seed)
        self.tok, self.pos = r.randn(vocab, d_model), r.randn(max_len, d_model)
        self.layers = [{n: r.randn(d_model, d_model) / d_model**0.5 for n in ("q", "k", "v", "o")} for _ in range(num_layers)]
        self.heads = num_heads
        self.kv = None

    def _attend(self, x, w, slot):
        cut = lambda y: y.reshape(*y.shape[:2], self.heads, -1).transpose(0, 2, 1, 3)
        q, k, v = (cut(x @ w[n]) for n in "qkv")
        if slot:
            k, v = np.concatenate([slot["k"], k], 2), np.concatenate([slot["v"], v], 2)
        slot.update(k=k, v=v)
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(k.shape[-1])
        s += np.triu(np.full(s.shape[-2:], -np.inf), s.shape[-1] - s.shape[-2] + 1)
        p = np.exp(s - s.max(-1, keepdims=True))
        y = p / p.sum(-1, keepdims=True) @ v
        return y.transpose(0, 2, 1, 3).reshape(x.shape) @ w["o"]

    def _forward(self, ids, at):
        x = self.tok[ids] + self.pos[at : at + ids.shape[1]]
        for w, slot in zip(self.layers, self.kv):
            x = x + self._attend(x, w, slot)
        return x @ self.tok.T

    def prefill(self, input_ids, num_chunks=1):
        ids = np.asarray(input_ids)
        self.kv, at = [{} for _ in self.layers], 0
        for piece in np.array_split(ids, min(num_chunks, ids.shape[1]), axis=1):
            out = self._forward(piece, at)
            at += piece.shape[1]
        return out[:, -1]

    def decode_step(self, token):
        return self._forward(np.reshape(token, (-1, 1)), self.kv[0]["k"].shape[2])[:, 0]
