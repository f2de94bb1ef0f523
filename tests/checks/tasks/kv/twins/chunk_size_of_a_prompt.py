# style: a prompt is told how long its chunks are; each is written into blocks, of which it may begin inside one
# only: chunked_prefill, incremental_equals_full
import numpy as np


class BlockedRows:
    """Keys and values of sequences, in blocks of a pool."""

    def __init__(self, layers, num_blocks, block_size, width):
        self.rows, self.size = np.zeros((layers, num_blocks, block_size, 2, width)), block_size
        self.free, self.tables, self.counts = list(range(num_blocks)), {}, {}

    def room(self, seq, count):
        table = self.tables.setdefault(seq, [])
        self.counts.setdefault(seq, 0)
        while len(table) * self.size < self.counts[seq] + count:
            table.append(self.free.pop(0))

    def fill(self, layer, seq, new):
        block, column = divmod(self.counts[seq], self.size)
        while len(new):
            rows = self.rows[layer, self.tables[seq][block], column : column + len(new)]
            rows[:], new = new[: len(rows)], new[len(rows) :]
            block, column = block + 1, 0

    def read(self, layer, seq, count):
        return self.rows[layer, self.tables[seq]].reshape(-1, *self.rows.shape[3:])[:count].transpose(1, 0, 2)


class ChunkedDecoder:
    def __init__(self, vocab_size=40, d_model=16, n_layers=2, block_size=4, num_blocks=64, seed=3):
        draw = np.random.default_rng(seed)
        self.words, self.width = draw.normal(size=(vocab_size, d_model)), d_model
        self.layers = draw.normal(size=(n_layers, 4, d_model, d_model)) / np.sqrt(d_model)
        self.cache = BlockedRows(n_layers, num_blocks, block_size, d_model)

    def prefill_chunk(self, seq, tokens):
        cache = self.cache
        cache.room(seq, len(tokens))
        start, end = cache.counts[seq], cache.counts[seq] + len(tokens)
        place = np.arange(start, end)
        x = self.words[np.asarray(tokens)] + np.sin(place[:, None] / (1 + np.arange(self.width)))
        for layer, (wq, wk, wv, wo) in enumerate(self.layers):
            cache.fill(layer, seq, np.stack([x @ wk, x @ wv], 1))
            k, v = cache.read(layer, seq, end)
            scores = np.where(np.arange(end) <= place[:, None], x @ wq @ k.T / np.sqrt(self.width), -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + p / p.sum(-1, keepdims=True) @ v @ wo
        cache.counts[seq] = end
        return x @ self.words.T

    def prefill(self, seq, tokens, chunk_size=None):
        size = chunk_size or len(tokens)
        for at in range(0, len(tokens), size):
            logits = self.prefill_chunk(seq, tokens[at : at + size])
        return logits[-1]

    def decode(self, seq, token):
        return self.prefill_chunk(seq, [token])[-1]

    def forward(self, tokens):
        """Logits of a whole text, which stores nothing."""
        place = np.arange(len(tokens))
        x = self.words[np.asarray(tokens)] + np.sin(place[:, None] / (1 + np.arange(self.width)))
        for wq, wk, wv, wo in self.layers:
            scores = np.where(place <= place[:, None], x @ wq @ (x @ wk).T / np.sqrt(self.width), -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + p / p.sum(-1, keepdims=True) @ (x @ wv) @ wo
        return x @ self.words.T
