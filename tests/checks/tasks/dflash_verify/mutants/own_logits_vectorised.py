# bug: every node is compared with the choice at its own row
# caught by: parent_logits, golden
from typing import NamedTuple

import numpy as np


class Outcome(NamedTuple):
    accepted: list
    new_token: int


def build_tree_mask(prompt_len, tree_parents):
    par = np.asarray(tree_parents, dtype=int)
    n = len(par)
    hop = np.zeros((n, n), dtype=int)
    hop[np.arange(n)[par >= 0], par[par >= 0]] = 1
    reach = np.eye(n, dtype=int)
    power = np.eye(n, dtype=int)
    for _ in range(n):
        power = power @ hop
        reach += power
    whole = np.tri(prompt_len + n, dtype=bool)
    whole[prompt_len:, prompt_len:] = reach > 0
    return whole


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P, N = len(prompt), len(tree_tokens)
    ids = np.concatenate([np.asarray(prompt, int), np.asarray(tree_tokens, int)])
    choice = target_model(ids, build_tree_mask(P, tree_parents)).argmax(axis=-1)
    right = choice[P:] == ids[P:]
    keep = np.zeros(N, bool)
    for i in range(N):
        keep[i] = right[i] and (tree_parents[i] < 0 or keep[tree_parents[i]])
    length = np.zeros(N, int)
    for i in range(N):
        if keep[i]:
            length[i] = 1 + (length[tree_parents[i]] if tree_parents[i] >= 0 else 0)
    if not keep.any():
        return Outcome([], int(choice[P - 1]))
    node = int(length.argmax())
    last, path = node, []
    while node >= 0:
        path.insert(0, int(ids[P + node]))
        node = tree_parents[node]
    return Outcome(path, int(choice[P + last]))
