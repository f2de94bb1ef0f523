# bug: where fewer continuations are possible than beams, the last of them is taken again
# caught by: edge_cases
# passes: eos_retention, greedy_equivalence
import numpy as np


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [_search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def _search(model, prompt, width, steps, alpha, eos):
    def rank(beam):
        tokens, total = beam
        return total / max(len(tokens), 1) ** alpha

    beams = [([], 0.0)]
    for _ in range(steps):
        grown = [beam for beam in beams if eos in beam[0]]
        if len(grown) == len(beams):
            break
        for tokens, total in beams:
            if eos not in tokens:
                row = np.asarray(model.get_log_probs(prompt + tokens))
                grown += [
                    (tokens + [int(t)], total + float(row[t])) for t in np.flatnonzero(np.isfinite(row))
                ]
        grown.sort(key=rank, reverse=True)
        grown += [grown[-1]] * max(width - len(grown), 0)
        beams = grown[:width]
    return [(tokens, rank((tokens, total))) for tokens, total in beams]
