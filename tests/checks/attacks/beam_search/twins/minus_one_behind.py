# style: one array per prompt, filled up with -1 and -inf; the scores beside it; tokens of a type of their own
# only: edge_cases, exhaustive_optimum, length_penalty
import numpy as np


def beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    tokens, scores = [], []
    for prompt in prompts:
        found = _search(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id)
        ids = np.full((len(found), max(max_new_tokens, 1)), -1, np.int32)
        for row, (own, _) in zip(ids, found):
            row[: len(own)] = own
        tokens.append(ids)
        scores.append(np.array([score for _, score in found]))
    return tokens, scores


def _search(model, prompt, k, steps, alpha, eos):
    pool = [((), 0.0)]
    for _ in range(steps):
        grown = [beam for beam in pool if beam[0][-1:] == (eos,)]
        if len(grown) == len(pool):
            break
        for own, total in pool:
            if own[-1:] == (eos,):
                continue
            row = np.asarray(model([*prompt, *own]), np.float64)
            grown += [((*own, t), total + float(row[t])) for t in range(len(row)) if row[t] > -np.inf]
        pool = sorted(grown, key=lambda beam: -beam[1] / len(beam[0]) ** alpha)[:k]
    return [(own, total / max(len(own), 1) ** alpha) for own, total in pool]
