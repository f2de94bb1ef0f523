# bug: a node does not see itself
# caught by: tree_mask, parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    tree_parents = np.asarray(tree_parents)
    n = tree_parents.size
    closure = np.zeros((n, n), dtype=bool)
    for i, p in enumerate(tree_parents):
        if p >= 0:
            closure[i] = closure[p]
            closure[i, p] = True
    return np.block([
        [np.tri(prompt_len, dtype=bool), np.zeros((prompt_len, n), dtype=bool)],
        [np.ones((n, prompt_len), dtype=bool), closure],
    ])


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    p = len(prompt)
    choice = np.argmax(target_model.logits(np.concatenate((prompt, tree_tokens)), build_tree_mask(p, tree_parents)), -1)
    alive, depth = {-1: 0}, 0
    end = -1
    for i, par in enumerate(tree_parents):
        if par in alive and choice[p + par] == tree_tokens[i]:
            alive[i] = alive[par] + 1
            if alive[i] > depth:
                depth, end = alive[i], i
    tokens = []
    while end >= 0:
        tokens.append(tree_tokens[end])
        end = tree_parents[end]
    tokens.reverse()
    final = max(alive, key=alive.get)
    return tokens, choice[p + final]
