# bug: tokens are kept as int16: ids from 32,768 on come back negative
# caught by: edge_cases
# passes: greedy_equivalence
# only: edge_cases, greedy_equivalence
"""One forward per step for all beams of a prompt; the candidates of all beams stand in one row."""

import numpy as np


class TinyLM:
    """logits(ids): (n, L) token ids -> (n, V)."""

    def __init__(self, vocab_size=32, dim=16, seed=0):
        rng = np.random.default_rng(seed)
        self.emb = rng.normal(size=(vocab_size, dim))
        self.out = rng.normal(size=(dim, vocab_size))

    def logits(self, ids):
        return self.emb[np.asarray(ids)].mean(axis=1) @ self.out


def log_softmax(z):
    z = z - z.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def grow(live, log_probs, width, eos):
    """The best continuations of all live beams as (tokens, sum, ended)."""
    vocab = log_probs.shape[1]
    sums = np.array([total for _, total, _ in live])
    flat = (sums[:, None] + log_probs).ravel()
    top = np.argsort(-flat, kind="stable")[: width + 1]
    top = top[np.isfinite(flat[top])]
    parents = top // vocab
    tokens = (top % vocab).astype(np.int16)
    return [(live[p][0] + [int(t)], float(flat[i]), int(t) == eos) for i, p, t in zip(top, parents, tokens)]


def search(model, prompt, width, steps, alpha, eos):
    pool = [([], 0.0, False)]
    for _ in range(steps):
        live = [beam for beam in pool if not beam[2]]
        if not live:
            break
        ids = [list(prompt) + tokens for tokens, _, _ in live]
        log_probs = log_softmax(np.asarray(model.logits(ids), dtype=np.float64))
        pool = [beam for beam in pool if beam[2]] + grow(live, log_probs, width, eos)
        pool.sort(key=lambda beam: -beam[1] / len(beam[0]) ** alpha)
        pool = pool[:width]
    return [(tokens, total / max(len(tokens), 1) ** alpha) for tokens, total, _ in pool]


def batched_beam_search(model, prompts, beam_width=4, max_new_tokens=16, alpha=0.6, eos_token_id=2):
    """Per prompt [(generated tokens, score), ...], best first."""
    return [search(model, p, beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
