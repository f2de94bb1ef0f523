# passes: purity
# right: sequences and scores as two columns per prompt, padded with -1; the model is a dict of functions' stand-in called per list
import numpy as np


def beam_search_batch(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model_fn):
    sequences, scores = [], []
    for prompt in prompts:
        toks, vals = _run(prompt, beam_width, max_new_tokens, alpha, eos_token_id, model_fn)
        sequences.append(toks)
        scores.append(vals)
    return {"sequences": sequences, "scores": scores}


def _run(prompt, K, steps, alpha, eos, model_fn):
    table = -np.ones((1, steps), dtype=int)
    total, length, open_ = np.zeros(1), np.zeros(1, dtype=int), np.ones(1, dtype=bool)
    for step in range(steps):
        if not open_.any():
            break
        new = []
        for b in range(len(total)):
            if not open_[b]:
                new.append((total[b] / length[b] ** alpha, b, -1, total[b]))
                continue
            row = np.asarray(model_fn(list(prompt) + [int(t) for t in table[b, :step]]))
            value = total[b] + row - np.log(np.sum(np.exp(row)))
            for token in np.lexsort((np.arange(len(row)), -value))[: 2 * K]:
                new.append((value[token] / (step + 1) ** alpha, b, int(token), value[token]))
        new.sort(key=lambda item: -item[0])
        new = new[:K]
        parents = [b for _, b, _, _ in new]
        table, length, open_ = table[parents].copy(), length[parents].copy(), open_[parents].copy()
        total = np.array([t for _, _, _, t in new])
        for i, (_, _, token, _) in enumerate(new):
            if token >= 0:
                table[i, step] = token
                length[i] += 1
                open_[i] = token != eos
    value = [float(t / max(n, 1) ** alpha) for t, n in zip(total, length)]
    return table.tolist(), value
