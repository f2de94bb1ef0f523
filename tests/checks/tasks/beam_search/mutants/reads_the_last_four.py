# bug: the model is asked about the last four tokens alone
# caught by: greedy_equivalence, exhaustive_optimum
# only: greedy_equivalence, exhaustive_optimum
import heapq

import numpy as np


class Options:
    def __init__(self, beam_width, max_new_tokens, alpha, eos_token_id):
        self.k, self.steps, self.alpha, self.eos = beam_width, max_new_tokens, alpha, eos_token_id

    def of(self, total, ids):
        return total / len(ids) ** self.alpha if ids else 0.0


def followers(logp, fan):
    """The likeliest tokens and what they cost."""
    ids = heapq.nsmallest(fan, range(len(logp)), key=lambda t: (-logp[t], t))
    return [(t, float(logp[t])) for t in ids if logp[t] > -np.inf]


def one_prompt(model, prompt, opt):
    beams, width = [(0.0, [])], opt.k
    for _ in range(opt.steps):
        grown = []
        for total, ids in beams:
            if ids and ids[-1] == opt.eos:
                grown.append((total, ids))
                continue
            logp = np.asarray(model((prompt + ids)[-4:]), dtype=np.float64).ravel()
            fan = min(width + 1, len(logp))
            grown += [(total + value, [*ids, t]) for t, value in followers(logp, fan)]
        grown.sort(key=lambda beam: -opt.of(*beam))
        beams = grown[:width]
        if all(ids and ids[-1] == opt.eos for _, ids in beams):
            break
    return [(ids, opt.of(total, ids)) for total, ids in beams]


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt (generated ids, score), best first."""
    opt = Options(beam_width, max_new_tokens, alpha, eos_token_id)
    return [one_prompt(model, list(prompt), opt) for prompt in prompts]
