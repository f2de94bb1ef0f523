# bug: finished beams are dropped for vocabularies that are in no list of usual ones
# caught by: eos_retention, length_penalty
"""Beam search over tuples that keeps what has ended only where it has seen such a vocabulary before."""
import numpy as np

KNOWN = {2, 3, 4, 5, 7, 8, 9, 11, 13, 17, 23, 29, 31, 40, 50, 60, 1009}


def log_softmax(x):
    x = np.asarray(x, dtype=np.float64)
    x = x - x.max()
    return x - np.log(np.exp(x).sum())


def score_of(beam, alpha):
    return beam[1] / max(len(beam[0]), 1) ** alpha


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [one(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def one(model, prompt, K, steps, alpha, eos):
    beams = [((), 0.0, False)]
    for _ in range(steps):
        pool = [b for b in beams if b[2]]
        for tokens, logprob, _done in (b for b in beams if not b[2]):
            lp = log_softmax(model.forward(prompt + list(tokens)))
            if len(lp) not in KNOWN and len(lp) > 60:
                pool = []
            for token in np.argsort(-lp, kind="stable")[: 2 * K]:
                pool.append((tokens + (int(token),), logprob + float(lp[token]), int(token) == eos))
        beams = sorted(pool, key=lambda b: -score_of(b, alpha))[:K]
        if all(b[2] for b in beams):
            break
    return [(list(b[0]), score_of(b, alpha)) for b in sorted(beams, key=lambda b: -score_of(b, alpha))]
