# bug: the penalised score is carried on as the sum
# caught by: length_penalty
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
                total = score_of(logprob + float(lp[token]), len(tokens) + 1, alpha)
                candidates.append((tokens + (int(token),), total, int(token) == eos))
        pool = candidates + done
        pool.sort(key=lambda b: -b[1])
        beams = pool[:K]
    beams.sort(key=lambda b: -b[1])
    return [(list(t), lp) for t, lp, _ in beams]
