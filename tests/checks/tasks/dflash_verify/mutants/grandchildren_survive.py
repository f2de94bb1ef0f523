# bug: only the children of a rejected node are rejected with it, not what is below them
# caught by: subtree_invalidation
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    parents = np.asarray(tree_parents)
    n = parents.size
    closure = np.eye(n, dtype=bool)
    for i in range(n):
        if parents[i] >= 0:
            closure[i] |= closure[parents[i]]
    m = np.tri(prompt_len + n, dtype=bool)
    m[prompt_len:, prompt_len:] = closure
    return m


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    choice = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents)).argmax(-1)
    rejected = set()
    good = []
    for i in range(len(tree_tokens)):
        if tree_parents[i] in rejected:
            continue
        if choice[P + tree_parents[i]] == tree_tokens[i]:
            good.append(i)
        else:
            rejected.add(i)
    depth = []
    for i, p in enumerate(tree_parents):
        depth.append(1 if p < 0 else depth[p] + 1)
    if not good:
        return [], int(choice[P - 1])
    end = max(good, key=lambda i: depth[i])
    path, j = [], end
    while j >= 0:
        path.append(int(tree_tokens[j]))
        j = tree_parents[j]
    return path[::-1], int(choice[P + end])
