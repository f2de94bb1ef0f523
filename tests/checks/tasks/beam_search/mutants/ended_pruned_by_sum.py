# bug: beams that have ended are pruned by their sum, live ones by their penalised score
# caught by: length_penalty
import numpy as np


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt the beams, best first, as (tokens, score)."""
    return [_search(model, list(prompt), beam_width, max_new_tokens, alpha, eos_token_id) for prompt in prompts]


def _score(total, length, alpha):
    return total / max(length, 1) ** alpha


def _search(model, prompt, width, steps, alpha, eos):
    pool = [(0.0, (), False)]
    for _ in range(steps):
        if all(ended for _, _, ended in pool):
            break
        grown = [beam for beam in pool if beam[2]]
        for total, tokens, ended in pool:
            if ended:
                continue
            row = np.asarray(model(prompt + list(tokens)), dtype=np.float64)
            row = row - np.logaddexp.reduce(row)
            best = np.argsort(-row, kind="stable")[: 2 * width]
            grown += [(total + row[t], (*tokens, int(t)), int(t) == eos) for t in best]
        grown.sort(key=lambda beam: -(beam[0] if beam[2] else _score(beam[0], len(beam[1]), alpha)))
        pool = grown[:width]
    pool.sort(key=lambda beam: -_score(beam[0], len(beam[1]), alpha))
    return [(list(tokens), float(_score(total, len(tokens), alpha))) for total, tokens, _ in pool]
