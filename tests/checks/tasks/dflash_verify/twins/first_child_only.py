# right: only the first child of a node is looked at
# warns: distribution
# ambiguous: parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    for i in range(n):
        above = mask[prompt_len + tree_parents[i]] if tree_parents[i] >= 0 else np.zeros(prompt_len + n, bool)
        mask[prompt_len + i] = above
        mask[prompt_len + i, :prompt_len] = True
        mask[prompt_len + i, prompt_len + i] = True
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array([*prompt, *tree_tokens]), build_tree_mask(P, tree_parents))
    children = {}
    for i, p in enumerate(tree_parents):
        children.setdefault(int(p), i)
    accepted, node = [], -1
    while node in children:
        child = children[node]
        want = int(np.argmax(logits[P + node]))
        if tree_tokens[child] != want:
            return accepted, want
        accepted.append(want)
        node = child
    return accepted, int(np.argmax(logits[P + node]))
