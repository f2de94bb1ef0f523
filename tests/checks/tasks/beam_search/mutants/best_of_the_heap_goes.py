# bug: the heap holds negated scores, so that the best of K is what a new one pushes out
# caught by: eos_retention, exhaustive_optimum
# only: eos_retention, exhaustive_optimum
import heapq
import itertools

import numpy as np


class Finished:
    """The best hypotheses that have finished, on a heap."""

    def __init__(self, size):
        self.size, self.heap, self.number = size, [], itertools.count()

    def add(self, score, tokens):
        item = (-score, next(self.number), tokens)
        if len(self.heap) < self.size:
            heapq.heappush(self.heap, item)
        else:
            heapq.heappushpop(self.heap, item)

    def ranked(self):
        return [(tokens, -cost) for cost, _number, tokens in sorted(self.heap)]


def _log_softmax(logits):
    logits = np.asarray(logits, dtype=np.float64)
    logits = logits - logits.max()
    return logits - np.log(np.exp(logits).sum())


def _search(model, prompt, width, limit, alpha, eos):
    store, live = Finished(width), [([], 0.0)]
    for _ in range(limit):
        grown = []
        for tokens, total in live:
            row = _log_softmax(model(prompt + tokens))
            order = np.argsort(-row, kind="stable")[: 2 * width]
            grown += [([*tokens, int(t)], total + float(row[t])) for t in order]
        grown.sort(key=lambda beam: -beam[1])
        for tokens, total in grown[:width]:
            if tokens[-1] == eos:
                store.add(total / len(tokens) ** alpha, tokens)
        live = [beam for beam in grown if beam[0][-1] != eos][:width]
    for tokens, total in live:
        if tokens:
            store.add(total / len(tokens) ** alpha, tokens)
    return store.ranked()


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """Per prompt the best (tokens, score), best first."""
    return [_search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
