# bug: the ids that the model reads are not gathered by parents: new tokens are put behind rows of other beams
# caught by: exhaustive_optimum
# passes: greedy_equivalence
"""Everything in arrays: ids (K, L) that the model reads, parents and tokens of every step for the way back."""

import numpy as np


class SearchResult:
    def __init__(self, sequences, scores):
        self.sequences = sequences
        self.scores = scores


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    found = [_one(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id) for prompt in prompts]
    return [list(zip(result.sequences, result.scores)) for result in found]


def _one(model, prompt, k, steps, alpha, eos):
    ids = np.array([prompt])
    total, length, done = np.zeros(1), np.zeros(1, dtype=int), np.zeros(1, dtype=bool)
    trail = []
    for step in range(steps):
        if done.all():
            break
        rows = np.array([model(row.tolist()) for row in ids], dtype=float)
        vocab = rows.shape[1]
        rows[done] = -np.inf
        rows[done, eos] = 0.0
        grown = total[:, None] + rows
        lengths = np.where(done, length, length + 1)
        ranked = (grown / lengths[:, None].astype(float) ** alpha).ravel()
        best = np.argsort(-ranked, kind="stable")[:k]
        best = best[np.isfinite(ranked[best])]
        parents, tokens = np.divmod(best, vocab)
        trail.append((parents, np.where(done[parents], -1, tokens)))
        total, length = grown.ravel()[best], lengths[parents]
        done = done[parents] | (tokens == eos)
        ids = np.column_stack([np.resize(ids, (len(best), ids.shape[1])), tokens])
    sequences = []
    for slot in range(len(total)):
        tokens, at = [], slot
        for parents, chosen in reversed(trail):
            if chosen[at] >= 0:
                tokens.append(int(chosen[at]))
            at = parents[at]
        sequences.append(tokens[::-1])
    scores = [float(t / max(n, 1) ** alpha) for t, n in zip(total, length)]
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    return SearchResult([sequences[i] for i in order], [scores[i] for i in order])
