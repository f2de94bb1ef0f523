# bug: probabilities are multiplied, and what lies below exp(-745) becomes 0
# caught by: edge_cases
# only: edge_cases, greedy_equivalence
import math

import numpy as np


def beam_search(prompts, model, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt the beams as (score, tokens), best first; score is log-probability / length^alpha."""
    return [search(tuple(prompt), model, beam_width, max_new_tokens, alpha, eos_token_id) for prompt in prompts]


def search(prompt, model, width, steps, alpha, eos):
    beams = [((), 1.0)]
    for _ in range(steps):
        grown = []
        for tokens, weight in beams:
            if tokens and tokens[-1] == eos:
                grown.append((tokens, weight))
                continue
            row = np.asarray(model(list(prompt + tokens)), dtype=float)
            best = np.argsort(-row, kind="stable")[:width]
            grown += [(tokens + (int(t),), weight * math.exp(row[t])) for t in best if row[t] > -math.inf]
        beams = sorted(grown, key=lambda beam: -score(beam, alpha))[:width] or beams
    return [(score(beam, alpha), list(beam[0])) for beam in beams]


def score(beam, alpha):
    tokens, weight = beam
    return (math.log(weight) if weight > 0 else -math.inf) / max(len(tokens), 1) ** alpha
