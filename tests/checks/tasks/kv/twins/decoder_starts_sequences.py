# style: start(prompt) gives the number of a sequence and its first logits; the prompt runs token by token
# only: incremental_equals_full, growth
import numpy as np


class LanguageModelServer:
    def __init__(self, vocab=29, width=24, heads=3, layers=2, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.emb = heads, rng.normal(size=(vocab, width))
        self.wq, self.wk, self.wv, self.wo = rng.normal(size=(4, layers, width, width)) / np.sqrt(width)
        self.rows, self.started = {}, 0

    def start(self, prompt):
        sid, self.started = self.started + 11, self.started + 1
        self.rows[sid] = [([], []) for _ in self.wq]
        for token in prompt:
            logits = self.step(sid, token)
        return sid, logits

    def step(self, sid, token):
        """Logits (vocab,) behind one more token of a sequence."""
        layers = self.rows[sid]
        at = len(layers[0][0])
        x = self.emb[int(token)] + np.sin((1 + at) / 9.0 ** np.linspace(0, 1, self.emb.shape[1]))
        for n, (keys, values) in enumerate(layers):
            h = x / np.sqrt(1e-6 + x @ x / len(x))
            q, k, v = ((h @ w[n]).reshape(self.heads, -1) for w in (self.wq, self.wk, self.wv))
            keys.append(k)
            values.append(v)
            scores = np.einsum("hd,shd->hs", q, np.array(keys)) / np.sqrt(q.shape[-1])
            p = np.exp(scores - scores.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            x = x + np.einsum("hs,shd->hd", p, np.array(values)).ravel() @ self.wo[n]
        return x @ self.emb.T

    def finish(self, sid):
        del self.rows[sid]
