# bug: a search that may stop early goes on until all prompts of the batch may, and finds other beams
# caught by: batch_independence
# passes: greedy_equivalence
"""Batched beam search with a heap of finished hypotheses per prompt."""

from __future__ import annotations
import heapq
import math
import numpy as np


class BeamHypotheses:
    def __init__(self, size, alpha):
        self.size = size
        self.alpha = alpha
        self.heap = []  # (score, -order, tokens)
        self.count = 0

    def add(self, tokens, logprob):
        score = logprob / max(len(tokens), 1) ** self.alpha
        self.count += 1
        item = (score, -self.count, tokens)
        if len(self.heap) < self.size:
            heapq.heappush(self.heap, item)
        else:
            heapq.heappushpop(self.heap, item)

    def is_done(self, best_logprob, cur_len):
        """Enough hypotheses, and none that runs is better than the worst one kept."""
        return len(self.heap) == self.size and self.heap[0][0] >= best_logprob / cur_len**self.alpha

    def ranked(self):
        best_first = sorted(self.heap, key=lambda h: (h[0], h[1]), reverse=True)
        return [(list(tokens), score) for score, _, tokens in best_first]


class _PromptState:
    def __init__(self, prompt, beam_width, alpha):
        self.prompt = list(prompt)
        self.live = [((), 0.0)]
        self.hyps = BeamHypotheses(beam_width, alpha)
        self.done = False


def _advance(model, state, beam_width, eos_token_id, step):
    candidates = []
    for tokens, total in state.live:
        lp = np.asarray(
            model.get_log_probs(np.asarray(state.prompt + list(tokens), dtype=np.int64)), dtype=np.float64
        )
        candidates += [
            (total + float(lp[t]), tokens + (t,)) for t in range(lp.shape[-1]) if lp[t] > -math.inf
        ]
    candidates.sort(key=lambda c: (-c[0], c[1]))
    state.live = []
    for rank, (total, tokens) in enumerate(candidates):
        if tokens[-1] == eos_token_id:
            if rank < beam_width:
                state.hyps.add(tokens, total)
        elif len(state.live) < beam_width:
            state.live.append((tokens, total))
    state.done = not state.live or state.hyps.is_done(state.live[0][1], step)


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha=0.6, eos_token_id=0):
    """For every prompt up to ``beam_width`` pairs (tokens, score), the best first."""
    if max_new_tokens <= 0:
        return [[([], 0.0)] for _ in prompts]
    states = [_PromptState(p, beam_width, alpha) for p in prompts]
    for step in range(1, max_new_tokens + 1):
        for state in states:
            if state.live:
                _advance(model, state, beam_width, eos_token_id, step)
        if all(state.done for state in states):
            break
    for state in states:
        if not state.done:
            for tokens, total in state.live:
                state.hyps.add(tokens, total)
    return [state.hyps.ranked() for state in states]
