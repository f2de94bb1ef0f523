# bug: rows that the model reads move in place, so that some take what another one has written already
# caught by: exhaustive_optimum
# passes: greedy_equivalence
# only: exhaustive_optimum, greedy_equivalence
import numpy as np


def normalised(x):
    x = np.asarray(x, dtype=np.float64)
    top = x.max()
    return x - top - np.log(np.exp(x - top).sum())


def search(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id):
    table = np.zeros((beam_width, max_new_tokens), dtype=np.int64)
    texts, totals, ended = [[]], np.zeros(1), []
    for step in range(max_new_tokens):
        rows = np.array([normalised(model.forward(list(prompt) + text)) for text in texts])
        sums = totals[:, None] + rows
        order = np.argsort(-sums, axis=None, kind="stable")[:beam_width]
        going = [n for n in order if n % sums.shape[1] != eos_token_id]
        for n in order:
            if n % sums.shape[1] == eos_token_id:
                ended.append((texts[n // sums.shape[1]] + [int(eos_token_id)], float(sums.flat[n])))
        for place, n in enumerate(going):
            table[place, :step] = table[n // sums.shape[1], :step]
            table[place, step] = n % sums.shape[1]
        texts = [table[place, : step + 1].tolist() for place in range(len(going))]
        totals = sums.flat[going] if going else np.zeros(0)
        if not going:
            break
    found = [(text, total / len(text) ** alpha) for text, total in ended]
    for place, total in enumerate(totals if max_new_tokens else []):
        found.append((table[place].tolist(), float(total) / max_new_tokens**alpha))
    return sorted(found, key=lambda pair: -pair[1])[:beam_width]


def batched_beam_search(model, prompts, beam_width, max_new_tokens, alpha, eos_token_id):
    """Per prompt the best (tokens, score), best first."""
    return [search(model, p, beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
