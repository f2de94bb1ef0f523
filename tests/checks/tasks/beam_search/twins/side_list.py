# passes: purity
# right: a side list whose places go to live beams, results as named tuples, rows for all beams of a prompt at once
from collections import namedtuple

import numpy as np

Result = namedtuple("Result", "sequence log_prob score")


def batch_beam_search(input_ids, model, num_beams=4, max_new_tokens=8, length_penalty=0.0, eos_id=0):
    return [_search(np.asarray(ids, dtype=np.int64), model, num_beams, max_new_tokens, length_penalty, eos_id)
            for ids in input_ids]


def _search(prompt, model, k, steps, alpha, eos):
    seqs = prompt[None, :]
    sums = np.zeros(1)
    finished = []
    for _ in range(steps):
        rows = np.asarray(model.forward(seqs))
        rows = rows - np.logaddexp.reduce(rows, axis=-1, keepdims=True)
        totals = sums[:, None] + rows
        flat = totals.ravel()
        order = np.argsort(-flat, kind="stable")[: 2 * k]
        keep = []
        for rank, index in enumerate(order):
            beam, token = divmod(int(index), totals.shape[1])
            if token == eos:
                if rank < k:
                    finished.append((seqs[beam, len(prompt):].tolist() + [token], float(flat[index])))
            elif len(keep) < k:
                keep.append((beam, token, float(flat[index])))
        if not keep:
            seqs = seqs[:0]
            break
        seqs = np.array([np.append(seqs[beam], token) for beam, token, _ in keep])
        sums = np.array([total for _, _, total in keep])
    live = [(s[len(prompt):].tolist(), float(t)) for s, t in zip(seqs, sums)] if len(seqs) else []
    ranked = [Result(toks, total, total / max(len(toks), 1) ** alpha) for toks, total in finished + live]
    return sorted(ranked, key=lambda r: r.score, reverse=True)[:k]
