# bug: stops as soon as the best beam has ended, while a longer one may still win
# caught by: exhaustive_optimum, length_penalty, eos_retention (warn)
# passes: greedy_equivalence
"""Beam decoding as a callable object; hypotheses are named tuples."""
from typing import NamedTuple
import numpy as np


class Hyp(NamedTuple):
    score: float
    ids: tuple


class Decoder:
    def __init__(self, lm):
        self.lm = lm

    def _logp(self, ids):
        z = np.asarray(self.lm(list(ids)), dtype=np.float64)
        z = z[-1] if z.ndim == 2 else z
        m = z.max()
        return z - (m + np.log(np.exp(z - m).sum()))

    def _one(self, prompt, width, budget, alpha, eos):
        # state: (sum of logs, generated ids, is it over?)
        beam = [(0.0, (), False)]
        for _ in range(budget):
            grown = []
            for total, ids, over in beam:
                if over:
                    grown.append((total, ids, True))
                    continue
                for token, lp in enumerate(self._logp(tuple(prompt) + ids)):
                    if lp > -np.inf:
                        grown.append((total + float(lp), ids + (token,), token == eos))
            grown.sort(key=lambda c: (-c[0] / len(c[1]) ** alpha, c[1]))
            beam = grown[:width]
            if beam[0][2]:
                break
        hyps = [Hyp(total / max(1, len(ids)) ** alpha, ids) for total, ids, _ in beam]
        return sorted(hyps, reverse=True)

    def __call__(self, prompts, *, width, budget, alpha=0.6, eos=2):
        return [self._one(p, width, budget, alpha, eos) for p in prompts]
