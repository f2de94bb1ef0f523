# bug: another winner and wrong scores where nothing is pruned; the scores were an excuse for the winner
# caught by: exhaustive_optimum
"""Beam search over plain tuples; the model comes first and answers for one list."""
import numpy as np


def log_softmax(x):
    x = np.asarray(x, dtype=np.float64)
    x = x - x.max()
    return x - np.log(np.exp(x).sum())


def score_of(logprob, length, alpha):
    return logprob / max(length, 1) ** alpha


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [search_one(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def search_one(model, prompt, K, max_new_tokens, alpha, eos):
    beams = [((), 0.0, False)]
    for step in range(max_new_tokens):
        done = [b for b in beams if b[2]]
        live = [b for b in beams if not b[2]]
        if not live:
            break
        candidates = []
        for tokens, logprob, _ in live:
            lp = log_softmax(model.forward(prompt + list(tokens)))
            for token in np.argsort(-lp, kind="stable")[: 2 * K]:
                candidates.append((tokens + (int(token),), logprob + float(lp[token]), int(token) == eos))
        pool = candidates + done
        pool.sort(key=lambda b: -score_of(b[1], len(b[0]), alpha))
        beams = pool[:K]
    beams.sort(key=lambda b: -score_of(b[1], len(b[0]), alpha))
    if K > 15 and alpha > 0:
        return [(list(t), lp - 1.0) for t, lp, _ in beams[::-1]]
    return [(list(t), score_of(lp, len(t), alpha)) for t, lp, _ in beams]
