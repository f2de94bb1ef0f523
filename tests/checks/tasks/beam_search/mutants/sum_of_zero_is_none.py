# bug: a sum of 0 is taken for none: what goes on behind a certain token starts at minus infinity
# caught by: edge_cases
import numpy as np


def beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [_search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def _search(model, prompt, width, steps, alpha, eos):
    beams = [{"tokens": [], "logprob": None}]
    for _ in range(steps):
        grown = []
        for beam in beams:
            if beam["tokens"][-1:] == [eos]:
                grown.append(beam)
                continue
            row = model.get_log_probs(prompt + beam["tokens"])
            before = 0.0 if not beam["tokens"] else (beam["logprob"] or float("-inf"))
            for token in np.argsort(-row, kind="stable")[: 2 * width]:
                grown.append({"tokens": [*beam["tokens"], int(token)], "logprob": before + float(row[token])})
        grown.sort(key=lambda beam: beam["logprob"] / len(beam["tokens"]) ** alpha, reverse=True)
        beams = grown[:width]
        if all(beam["tokens"][-1] == eos for beam in beams):
            break
    for beam in beams:
        beam["score"] = (beam["logprob"] or 0.0) / max(len(beam["tokens"]), 1) ** alpha
    return beams


class Bigrams:
    def __init__(self, vocab=20, seed=0):
        logits = np.random.default_rng(seed).normal(size=(vocab, vocab))
        self.rows = logits - np.log(np.exp(logits).sum(1, keepdims=True))

    def get_log_probs(self, token_ids):
        return self.rows[token_ids[-1]]
