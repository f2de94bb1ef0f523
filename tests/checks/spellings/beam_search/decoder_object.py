"""A decoder is made with its model and settings, and called with prompts; hypotheses are dataclasses."""
from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Hypothesis:
    token_ids: list[int] = field(default_factory=list)
    sum_logprob: float = 0.0
    finished: bool = False
    score: float = 0.0


class BeamSearchDecoder:
    def __init__(self, model, beam_size: int, alpha: float, eos_id: int, max_length: int):
        self.model, self.beam_size, self.alpha = model, beam_size, alpha
        self.eos_id, self.max_length = eos_id, max_length

    def decode(self, prompts):
        return [self._decode(list(p)) for p in prompts]

    def _decode(self, prompt):
        beams = [Hypothesis()]
        for _ in range(self.max_length):
            if all(h.finished for h in beams):
                break
            pool = [h for h in beams if h.finished]
            for h in beams:
                if not h.finished:
                    pool.extend(self._children(prompt, h))
            beams = heapq.nlargest(self.beam_size, pool, key=lambda h: h.score)
        return beams

    def _children(self, prompt, h):
        logprobs = self.model.get_log_probs(np.array(prompt + h.token_ids))
        for token in np.argsort(logprobs)[::-1][: 2 * self.beam_size]:
            total = h.sum_logprob + float(logprobs[token])
            ids = [*h.token_ids, int(token)]
            yield Hypothesis(ids, total, int(token) == self.eos_id, total / len(ids) ** self.alpha)
