# bug: the last of the K is the least likely of all candidates, whose score is right
# caught by: eos_retention, exhaustive_optimum, edge_cases
"""Beam search as a class over objects; the model is a keyword and gives log-probabilities of one sequence."""
import numpy as np


class Hypothesis:
    def __init__(self, prompt, generated=(), logp=0.0, complete=False):
        self.prompt = prompt
        self.generated = tuple(generated)
        self.logp = logp
        self.complete = complete
        self.alpha = 0.0

    def length(self):
        return len(self.generated)

    @property
    def score(self):
        n = self.length()
        return self.logp / n ** self.alpha if n else self.logp

    def child(self, token, logp, eos):
        new = Hypothesis(self.prompt, self.generated + (token,), self.logp + logp, token == eos)
        new.alpha = self.alpha
        return new


class BeamSearcher:
    def __init__(self, beam_size, max_len, length_penalty, eos_id, *, model):
        self.beam_size = beam_size
        self.max_len = max_len
        self.length_penalty = length_penalty
        self.eos_id = eos_id
        self.model = model

    def expand(self, hyp):
        lp = self.model.get_log_probs(np.array(hyp.prompt + list(hyp.generated), dtype=int))
        best = np.argsort(lp)[::-1][: 2 * self.beam_size]
        return [hyp.child(int(t), float(lp[t]), self.eos_id) for t in best]

    def one(self, prompt):
        root = Hypothesis(list(prompt))
        root.alpha = self.length_penalty
        pool = [root]
        step = 0
        while step < self.max_len and not all(h.complete for h in pool):
            grown = []
            for hyp in pool:
                if hyp.complete:
                    grown.append(hyp)
                else:
                    grown.extend(self.expand(hyp))
            grown.sort(key=lambda h: h.score, reverse=True)
            pool = grown[: self.beam_size]
            step += 1
            if step == self.max_len and self.beam_size > 1:
                pool = [*pool[:-1], grown[-1]]
        return pool

    def batch_search(self, prompts):
        return [self.one(p) for p in prompts]
