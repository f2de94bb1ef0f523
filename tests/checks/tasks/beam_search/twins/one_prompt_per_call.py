# right: one prompt per call; whoever has several calls it for each
# skips: throughput (a call takes one prompt)
# only: eos_retention, length_penalty, greedy_equivalence, batch_independence, exhaustive_optimum, edge_cases
import heapq

import numpy as np


def beam_search(log_probs, prompt, k, max_new_tokens, alpha, eos):
    """The k best continuations of one prompt: (tokens, score) each, best first."""

    def rank(path):
        tokens, total = path
        return total / len(tokens) ** alpha if tokens else 0.0

    live, ended = [((), 0.0)], []
    for _ in range(max_new_tokens):
        paths = list(ended)
        for tokens, total in live:
            row = np.asarray(log_probs(list(prompt) + list(tokens)), dtype=float)
            row = row - row.max() - np.log(np.exp(row - row.max()).sum())
            paths += [((*tokens, t), total + float(row[t])) for t in np.argsort(-row, kind="stable")[: k + 1].tolist()]
        best = heapq.nlargest(k, paths, key=rank)
        ended = [path for path in best if path[0][-1] == eos]
        live = [path for path in best if path[0][-1] != eos]
        if not live:
            break
    return [(list(path[0]), rank(path)) for path in sorted(ended + live, key=rank, reverse=True)]
