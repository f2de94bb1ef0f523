# bug: nothing is ever accepted
# caught by: parent_logits, subtree_invalidation, golden (warn)
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    m = np.tri(prompt_len + n, dtype=bool)
    for i in range(n):
        line, j = [], i
        while j >= 0:
            line.append(j)
            j = tree_parents[j]
        for j in range(n):
            m[prompt_len + i, prompt_len + j] = j in line
    return m


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    return [], int(np.argmax(logits[P - 1]))
