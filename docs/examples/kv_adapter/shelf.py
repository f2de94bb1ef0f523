"""A KV cache as one shelf of records: a pair per token and head, newest in front, D before everything."""

import math


class Shelf:
    def __init__(self, lanes):
        self.records = [[] for _ in range(lanes)]

    def stack(self, lane, pair):
        self.records[lane].insert(0, pair)

    def look(self, lane, ask):
        """softmax(ask · k / √d) v over one lane, plain lists."""
        pairs = self.records[lane]
        scores = [sum(a * b for a, b in zip(ask, k, strict=True)) / math.sqrt(len(ask)) for k, _v in pairs]
        top = max(scores)
        weights = [math.exp(s - top) for s in scores]
        total = sum(weights)
        return [
            sum(w * v[j] for w, (_k, v) in zip(weights, pairs, strict=True)) / total for j in range(len(ask))
        ]
