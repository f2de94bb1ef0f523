# bug: the closure is transposed: a node sees what is below it
# caught by: tree_mask, parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    reach = np.eye(n, dtype=bool)
    for i in range(n):
        j = tree_parents[i]
        while j >= 0:
            reach[j, i] = True
            j = tree_parents[j]
    full = np.tri(prompt_len + n, dtype=bool)
    full[prompt_len:, prompt_len:] = reach
    return full


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    best = target_model(np.r_[prompt, tree_tokens].astype(int), build_tree_mask(P, tree_parents)).argmax(1)
    path, node, moved = [], -1, True
    while moved:
        moved = False
        for i in range(len(tree_tokens)):
            if tree_parents[i] == node and tree_tokens[i] == best[P + node]:
                path.append(i)
                node, moved = i, True
                break
    return path, best[P + node]
