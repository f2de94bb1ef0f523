"""Everything by keyword; the model answers a padded batch with logits of every position."""
import numpy as np


def beam_search(*, input_ids, model, k, n_steps, penalty=1.0, eos_token):
    answers, scores = [], []
    for ids in input_ids:
        live, ended = [((), 0.0)], []
        for step in range(n_steps):
            if not live:
                break
            batch = np.array([list(ids) + list(t) for t, _ in live])
            logits = np.asarray(model(batch))[:, -1]
            logits = logits - logits.max(axis=1, keepdims=True)
            logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
            pool = list(ended)
            for (tokens, total), row in zip(live, logp):
                for token in np.argsort(-row, kind="stable")[: 2 * k]:
                    pool.append((tokens + (int(token),), total + float(row[token])))
            pool.sort(key=lambda c: -c[1] / len(c[0]) ** penalty)
            ended = [c for c in pool[:k] if c[0][-1] == eos_token]
            live = [c for c in pool[:k] if c[0][-1] != eos_token]
        best = sorted(live + ended, key=lambda c: -c[1] / max(1, len(c[0])) ** penalty)
        answers.append([list(t) for t, _ in best])
        scores.append([s / max(1, len(t)) ** penalty for t, s in best])
    return answers, scores
