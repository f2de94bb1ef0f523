# bug: a node is accepted when its token is among the two likeliest
# caught by: golden, parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    seen = [[j <= i for j in range(prompt_len)] + [False] * n for i in range(prompt_len)]
    for i in range(n):
        row = list(seen[prompt_len + tree_parents[i]]) if tree_parents[i] >= 0 else [True] * prompt_len + [False] * n
        row[prompt_len + i] = True
        seen.append(row)
    return np.array(seen)


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    accepted, node = [], -1
    while True:
        order = np.argsort(-logits[P + node])
        kids = [i for i, p in enumerate(tree_parents) if p == node]
        kids = [k for t in order[:2] for k in kids if tree_tokens[k] == t]
        if not kids:
            return accepted, int(order[0])
        node = kids[0]
        accepted.append(int(tree_tokens[node]))
