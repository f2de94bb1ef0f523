# style: lanes of which those that end are closed by a total of -inf, their scores copied before
# only: eos_retention, exhaustive_optimum
import numpy as np


def _one(model, prompt, width, limit, alpha, eos):
    lanes, totals, kept = [[]], np.zeros(1), []
    for _ in range(limit):
        live = [lane for lane in np.argsort(-totals, kind="stable")[:width] if np.isfinite(totals[lane])]
        rows = np.array([model(prompt + lanes[lane]) for lane in live], dtype=float)
        rows -= rows.max(axis=1, keepdims=True)
        rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
        sums = (totals[live][:, None] + rows).ravel()
        best = np.argsort(-sums, kind="stable")[: 2 * width]
        lanes = [[*lanes[live[place // rows.shape[1]]], int(place % rows.shape[1])] for place in best]
        totals = sums[best]
        for lane, tokens in enumerate(lanes):
            if tokens[-1] == eos and np.isfinite(totals[lane]):
                if lane < width:
                    kept.append((tokens, _penalised(totals[lane : lane + 1].copy(), len(tokens), alpha)))
                totals[lane] = -np.inf
        if not np.isfinite(totals).any():
            break
    for lane in np.argsort(-totals, kind="stable")[:width]:
        if np.isfinite(totals[lane]) and lanes[lane]:
            kept.append((lanes[lane], _penalised(totals[lane : lane + 1].copy(), len(lanes[lane]), alpha)))
    ranked = sorted(kept, key=lambda entry: -float(entry[1][0]))[:width]
    return [(tokens, float(score[0])) for tokens, score in ranked]


def _penalised(total, length, alpha):
    return total if alpha == 0 else total / length**alpha


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """Per prompt the best (tokens, score), best first."""
    return [_one(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
