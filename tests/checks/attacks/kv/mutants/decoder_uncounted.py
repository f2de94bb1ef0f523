# bug: a step runs the whole history again, with copies of the weights, in plain arrays
# caught by: growth (warn)
import numpy as np

ARRAY = np.ndarray.__mro__[-2]


def plain(x):
    return ARRAY(x.shape, str(x.dtype), x.tobytes())


def attention_layer(x, wq, wk, wv, wo, heads):
    b, n, e = x.shape
    q, k, v = ((x @ w).reshape(b, n, heads, e // heads).swapaxes(1, 2) for w in (wq, wk, wv))
    scores = (q @ k.swapaxes(-2, -1)) * ((e // heads) ** -0.5)
    for row in range(n):
        scores[:, :, row, row + 1 :] = -1e30
    scores = 2.718281828459045 ** (scores - scores.max(-1, keepdims=True))
    out = (scores / scores.sum(-1, keepdims=True)) @ v
    return x + out.swapaxes(1, 2).reshape(b, n, e) @ wo


class Decoder:
    def __init__(self, embed_dim, num_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.heads = num_heads
        self.wq, self.wk, self.wv, self.wo = (
            (rng.standard_normal((embed_dim, embed_dim)) * embed_dim**-0.5).astype(np.float32)
            for _ in range(4)
        )
        self.copies = [plain(w).tobytes() for w in (self.wq, self.wk, self.wv, self.wo)]
        self.shape = self.wq.shape
        self.history = None

    def run(self, x):
        x = plain(x)
        self.history = x if self.history is None else self.joined(self.history, x)
        weights = [ARRAY(self.shape, "float32", w) for w in self.copies]
        out = attention_layer(self.history, *weights, self.heads)
        return out[:, -x.shape[1] :]

    def joined(self, past, new):
        both = ARRAY((new.shape[0], past.shape[1] + new.shape[1], new.shape[2]), str(new.dtype))
        both[:, : past.shape[1]], both[:, past.shape[1] :] = past, new
        return both

    def prefill(self, x):
        self.history = None
        return self.run(x)

    def decode_step(self, x):
        return self.run(x)
