# bug: sums are taken as shares of themselves, which is 0/0 behind a certain token
# caught by: edge_cases
import numpy as np


def beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    return [_search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def _search(model, prompt, width, steps, alpha, eos):
    live, ended = [([], 0.0)], []
    for _ in range(steps):
        grown = []
        for tokens, total in live:
            row = np.asarray(model.get_log_probs(prompt + tokens), dtype=np.float64)
            for token in np.argsort(-row, kind="stable")[: 2 * width]:
                sums = np.array([total, row[token]])
                with np.errstate(all="ignore"):
                    # The mean of what there is, times how many there are.
                    share = sums / sums.sum()
                    grown.append(([*tokens, int(token)], float((share * sums.sum()).sum())))
        grown += ended
        grown.sort(key=lambda beam: -beam[1] / len(beam[0]) ** alpha)
        ended = [beam for beam in grown[:width] if beam[0][-1] == eos]
        live = [beam for beam in grown[:width] if beam[0][-1] != eos]
        if not live:
            break
    beams = [(tokens, total / max(len(tokens), 1) ** alpha) for tokens, total in [*live, *ended]]
    return sorted(beams, key=lambda beam: -beam[1])


class Bigrams:
    def __init__(self, vocab=20, seed=0):
        logits = np.random.default_rng(seed).normal(size=(vocab, vocab))
        self.rows = logits - np.log(np.exp(logits).sum(1, keepdims=True))

    def get_log_probs(self, token_ids):
        return self.rows[token_ids[-1]]
