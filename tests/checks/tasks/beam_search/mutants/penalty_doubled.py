# bug: the exponent is doubled
# caught by: length_penalty, eos_retention
# passes: greedy_equivalence
import numpy as np


class MinimalLM:
    def __init__(self, vocab_size=50, seed=0):
        self.vocab_size = vocab_size
        self.seed = seed

    def get_log_probs(self, token_ids):
        rng = np.random.default_rng([self.seed, *[int(t) for t in token_ids]])
        z = rng.normal(size=self.vocab_size)
        return z - np.log(np.sum(np.exp(z)))


def _score(lp, n, alpha):
    return lp / (max(n, 1) ** alpha) ** 2


def _search_one(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id):
    beams = [((), 0.0, False)]
    for _ in range(max_new_tokens):
        if all(done for _, _, done in beams):
            break
        pool = []
        for tokens, lp, done in beams:
            if done:
                pool.append((tokens, lp, True))
                continue
            log_probs = model.get_log_probs(list(prompt) + list(tokens))
            k = min(2 * beam_width, len(log_probs))
            for t in np.argsort(-np.asarray(log_probs), kind="stable")[:k]:
                t = int(t)
                pool.append((tokens + (t,), lp + float(log_probs[t]), t == eos_token_id))
        pool.sort(key=lambda b: -_score(b[1], len(b[0]), alpha))
        beams = pool[:beam_width]
    return [(list(t), _score(lp, len(t), alpha)) for t, lp, _ in beams]


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt the K best (generated tokens, score), best first."""
    return [_search_one(model, p, beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
