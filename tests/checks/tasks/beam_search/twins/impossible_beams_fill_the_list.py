# right: where fewer beams are possible than asked for, impossible ones of score -inf fill the list
# only: edge_cases, eos_retention, exhaustive_optimum, greedy_equivalence, length_penalty
import numpy as np


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [_search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def _search(model, prompt, width, steps, alpha, eos):
    def rank(beam):
        tokens, total = beam
        return total / max(len(tokens), 1) ** alpha

    beams = [([], 0.0)]
    for _ in range(steps):
        going = [beam for beam in beams if eos not in beam[0]]
        if not going:
            break
        rows = np.array([model.get_log_probs(prompt + tokens) for tokens, _ in going])
        totals = (rows + np.array([total for _, total in going])[:, None]).ravel()
        best = np.argsort(-totals, kind="stable")[: 2 * width]
        grown = [
            (going[at // rows.shape[1]][0] + [int(at % rows.shape[1])], float(totals[at])) for at in best
        ]
        beams = sorted([beam for beam in beams if eos in beam[0]] + grown, key=rank, reverse=True)[:width]
    return [(tokens, rank((tokens, total))) for tokens, total in beams]
