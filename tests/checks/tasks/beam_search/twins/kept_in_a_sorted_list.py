# style: what has finished is inserted where it belongs, and what is behind K falls off
# only: eos_retention, exhaustive_optimum, length_penalty
import bisect

import numpy as np


class Finished:
    """The best hypotheses that have finished, in order."""

    def __init__(self, size):
        self.size, self.costs, self.tokens = size, [], []

    def add(self, score, tokens):
        at = bisect.bisect_right(self.costs, -score)
        self.costs.insert(at, -score)
        self.tokens.insert(at, tokens)
        del self.costs[self.size :], self.tokens[self.size :]

    def ranked(self):
        return [(tokens, -cost) for tokens, cost in zip(self.tokens, self.costs)]


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
