# right: before the first step infinity is added to the costs of all rows but one, in a bank of K rows
# only: edge_cases, eos_retention, exhaustive_optimum, greedy_equivalence, length_penalty
import numpy as np


def beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    if max_new_tokens == 0:
        return [[([], 0.0)] for _ in prompts]
    return [_search(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]


def _search(model, prompt, width, steps, alpha, eos):
    only = np.full((width, 1), np.inf)
    only[0] = 0.0
    texts, costs = [[]] * width, np.zeros(width)
    for step in range(steps):
        rows = np.stack([_costs(model, prompt, text, cost, eos) for text, cost in zip(texts, costs)])
        if step == 0:
            rows = rows + only
        lengths = np.array([[len(text) + (text[-1:] != [eos])] for text in texts])
        order = np.argsort((rows / lengths**alpha).ravel(), kind="stable")
        places = [divmod(int(at), rows.shape[1]) for at in order if rows.flat[at] != np.inf][:width]
        costs = np.array([rows[place] for place in places])
        texts = [texts[b] if texts[b][-1:] == [eos] else [*texts[b], token] for b, token in places]
        if all(text[-1] == eos for text in texts):
            break
    beams = [(text, float(-cost / len(text) ** alpha)) for text, cost in zip(texts, costs)]
    return sorted(beams, key=lambda beam: beam[1], reverse=True)


def _costs(model, prompt, text, cost, eos):
    if text[-1:] != [eos]:
        return cost - np.asarray(model.get_log_probs(prompt + text), dtype=np.float64)
    ended = np.full(len(model.get_log_probs(prompt)), np.inf)
    ended[eos] = cost
    return ended


class Bigrams:
    def __init__(self, vocab=20, seed=0):
        logits = np.random.default_rng(seed).normal(size=(vocab, vocab))
        self.rows = logits - np.log(np.exp(logits).sum(1, keepdims=True))

    def get_log_probs(self, token_ids):
        return self.rows[token_ids[-1]]
