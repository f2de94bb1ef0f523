# bug: a search is over once K are kept and no open path scores more one token on, though it may yet be longer
# caught by: length_penalty (ambiguous)
import heapq

import numpy as np


def normalised(logits):
    logits = np.asarray(logits, dtype=float).reshape(-1)
    top = logits.max()
    return logits - (top + np.log(np.exp(logits - top).sum()))


class Paths:
    """Open paths of one prompt, and the best K that have ended."""

    def __init__(self, k, alpha):
        self.k, self.alpha = k, alpha
        self.open, self.kept = [(0.0, ())], []

    def keep(self, total, path):
        heapq.heappush(self.kept, (total / len(path) ** self.alpha, path))
        if len(self.kept) > self.k:
            heapq.heappop(self.kept)

    def reachable(self, total, length):
        return total / (length + 1) ** self.alpha

    def over(self):
        if len(self.kept) < self.k:
            return False
        return all(self.reachable(total, len(path)) < self.kept[0][0] for total, path in self.open)

    def results(self):
        return [(list(path), score) for score, path in sorted(self.kept, reverse=True)]


def decode(model, prompt, k, steps, alpha, eos):
    paths = Paths(k, alpha)
    for _ in range(steps):
        fan = [
            (total + value, (*path, token))
            for total, path in paths.open
            for token, value in enumerate(normalised(model([*prompt, *path])).tolist())
            if value > -np.inf
        ]
        chosen = heapq.nlargest(k, fan)
        paths.open = [(total, path) for total, path in chosen if path[-1] != eos]
        for total, path in chosen:
            if path[-1] == eos:
                paths.keep(total, path)
        if not paths.open or paths.over():
            return paths.results()
    for total, path in paths.open:
        if path:
            paths.keep(total, path)
    return paths.results()


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    return [
        decode(model, list(prompt), beam_width, max_new_tokens, alpha, eos_token_id) for prompt in prompts
    ]
