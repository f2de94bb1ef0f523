# style: a store of the best that finished, with the least of their scores beside it
# only: eos_retention, exhaustive_optimum, length_penalty
import numpy as np


class Finished:
    """The best hypotheses that have finished."""

    def __init__(self, size):
        self.size, self.items, self.least = size, [], 0.0

    def add(self, score, tokens):
        if len(self.items) < self.size:
            self.items.append((score, tokens))
            self.least = min(item[0] for item in self.items)
        elif score > self.least:
            at = min(range(self.size), key=lambda i: self.items[i][0])
            self.items[at] = (score, tokens)
            self.least = min(item[0] for item in self.items)

    def ranked(self):
        return [(tokens, score) for score, tokens in sorted(self.items, key=lambda item: -item[0])]


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
