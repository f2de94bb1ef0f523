# bug: a live row that scores less now than the worst of K ended ones is dropped, though its length may help
# caught by: length_penalty (ambiguous)
import numpy as np


def log_softmax(rows):
    rows = np.asarray(rows, dtype=float)
    rows = rows - rows.max(axis=-1, keepdims=True)
    return rows - np.log(np.exp(rows).sum(axis=-1, keepdims=True))


def one(model, prompt, k, steps, alpha, eos):
    live, sums = [[]], np.zeros(1)
    ended = []
    for step in range(1, steps + 1):
        logits = np.stack([np.asarray(model(list(prompt) + row)).reshape(-1) for row in live])
        totals = sums[:, None] + log_softmax(logits)
        vocab = totals.shape[1]
        order = np.argsort(-totals, axis=None, kind="stable")[:k]
        order = order[np.isfinite(totals.reshape(-1)[order])]
        rows = [(live[i // vocab] + [int(i % vocab)], totals.reshape(-1)[i]) for i in order]
        ended += [(float(total) / step**alpha, row) for row, total in rows if row[-1] == eos]
        ended = sorted(ended, key=lambda pair: -pair[0])[:k]
        going = [(row, total) for row, total in rows if row[-1] != eos]
        if len(ended) == k:
            going = [(row, total) for row, total in going if total / step**alpha > ended[-1][0]]
        live, sums = [row for row, _ in going], np.array([total for _, total in going])
        if not live:
            break
    ended += [(float(total) / steps**alpha, row) for row, total in zip(live, sums, strict=True) if row]
    ended.sort(key=lambda pair: -pair[0])
    return [(row, score) for score, row in ended[:k]]


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    return [one(model, prompt, beam_width, max_new_tokens, alpha, eos_token_id) for prompt in prompts]
