# style: a prompt opens a sequence and gives its handle beside the logits; a step takes handles and tokens
# only: incremental_equals_full, chunked_prefill, growth
import numpy as np


class Unknown(KeyError):
    """No sequence of this handle."""


class Engine:
    """Serves sequences of any length; their pages come from one store."""

    def __init__(self, vocab: int = 32, width: int = 24, heads: int = 3, layers: int = 2, pages: int = 40,
                 page_size: int = 4, seed: int = 0):  # fmt: skip
        rng = np.random.default_rng(seed)
        self.heads, self.page_size = heads, page_size
        self.embedding = rng.normal(size=(vocab, width))
        self.weights = rng.normal(size=(layers, 4, width, width)) / np.sqrt(width)
        self.store = np.zeros((layers, 2, pages, page_size, heads, width // heads))
        self.free, self.tables, self.lengths, self.next = list(range(pages)), {}, {}, 100

    def prefill(self, tokens, handle=None, chunk=None):
        """Returns (handle, logits (T, vocab)); with a handle the prompt goes on where it ended."""
        if handle is None:
            handle, self.next = self.next, self.next + 7
            self.tables[handle], self.lengths[handle] = [], 0
        step = chunk or len(tokens)
        parts = [self._extend(handle, tokens[i : i + step]) for i in range(0, len(tokens), step)]
        return handle, np.concatenate(parts)

    def decode(self, handles, tokens):
        """One token for each handle: logits (len(handles), vocab)."""
        return np.concatenate([self._extend(h, [t]) for h, t in zip(handles, tokens, strict=True)])

    def finish(self, handle):
        if handle not in self.tables:
            raise Unknown(handle)
        self.free += self.tables.pop(handle)
        del self.lengths[handle]

    def _extend(self, handle, tokens):
        if handle not in self.tables:
            raise Unknown(handle)
        start, count, table = self.lengths[handle], len(tokens), self.tables[handle]
        while len(table) * self.page_size < start + count:
            table.append(self.free.pop())
        at = np.arange(start + count)
        page, line = np.array(table)[at // self.page_size], at % self.page_size
        x = self.embedding[np.asarray(tokens)] + self._places(at[start:])
        for (keys, values), (wq, wk, wv, wo) in zip(self.store, self.weights, strict=True):
            q, k, v = ((x @ w).reshape(count, self.heads, -1) for w in (wq, wk, wv))
            keys[page[start:], line[start:]], values[page[start:], line[start:]] = k, v
            scores = np.einsum("qhd,khd->hqk", q, keys[page, line]) / np.sqrt(q.shape[-1])
            scores[:, at[None] > at[start:, None]] = -np.inf
            w = np.exp(scores - scores.max(-1, keepdims=True))
            w /= w.sum(-1, keepdims=True)
            x = x + np.einsum("hqk,khd->qhd", w, values[page, line]).reshape(count, -1) @ wo
        self.lengths[handle] = start + count
        return x @ self.embedding.T

    def _places(self, at):
        width = self.embedding.shape[1]
        return np.cos(at[:, None] / 40.0 ** (np.arange(width) / width) + np.arange(width))
