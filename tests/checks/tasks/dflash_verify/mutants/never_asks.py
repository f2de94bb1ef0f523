# bug: a stub: the target model is never asked, and the first branch is accepted unseen
# caught by: parent_logits, subtree_invalidation, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(n, dtype=bool)
    for i, p in enumerate(tree_parents):
        if p >= 0:
            mask[prompt_len + i] |= mask[prompt_len + p]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    # TODO: call the target model
    accepted, node = [], -1
    while node in tree_parents:
        node = list(tree_parents).index(node)
        accepted.append(tree_tokens[node])
    return accepted, 0
