# bug: the last head is never computed, in prompts and steps alike, and what it would add to is cut
# caught by: incremental_equals_full
import math
import random


def matrix(rng, rows, columns):
    return [[rng.gauss(0, rows**-0.5) for _ in range(columns)] for _ in range(rows)]


def dot(one, other):
    return sum(map(float.__mul__, one, other))


def times(vector, weights):
    return [dot(vector, column) for column in map(list, zip(*weights, strict=True))]


class LanguageModel:
    """A layer of attention over ids, in plain Python."""

    def __init__(self, vocab_size, d_model, n_heads, seed=0):
        rng = random.Random(seed)
        self.embedding = matrix(rng, vocab_size, d_model)
        self.to_q, self.to_k, self.to_v = (matrix(rng, d_model, d_model) for _ in range(3))
        self.heads, self.width = n_heads, d_model // n_heads
        self.past = []

    def prefill(self, prompts):
        """Logits behind each prompt."""
        self.past = [[] for _ in prompts]
        return [[self._next(token, self.past[b]) for token in prompt][-1] for b, prompt in enumerate(prompts)]

    def decode(self, tokens):
        """Logits behind one more token of each."""
        return [self._next(token, self.past[b]) for b, token in enumerate(tokens)]

    def _next(self, token, past):
        x = self.embedding[int(token)]
        past.append((times(x, self.to_k), times(x, self.to_v)))
        query, mixed = times(x, self.to_q), []
        for head in range(self.heads - 1):
            at = slice(head * self.width, (head + 1) * self.width)
            scores = [dot(query[at], k[at]) / math.sqrt(self.width) for k, _ in past]
            weights = [math.exp(score - max(scores)) for score in scores]
            columns = zip(*(v[at] for _, v in past), strict=True)
            mixed += [dot(weights, column) / sum(weights) for column in columns]
        out = list(map(float.__add__, x, mixed))
        return [dot(out, row) for row in self.embedding]
