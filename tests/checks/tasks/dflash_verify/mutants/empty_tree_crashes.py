# bug: an empty tree is not provided for
# caught by: golden (warn), tree_mask (warn)
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    depth = max(tree_parents)
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(n, dtype=bool)
    for i in range(n):
        if 0 <= tree_parents[i] <= depth:
            mask[prompt_len + i] |= mask[prompt_len + tree_parents[i]]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    accepted, node = [], -1
    while True:
        want = int(np.argmax(logits[P + node]))
        hit = [i for i, p in enumerate(tree_parents) if p == node and tree_tokens[i] == want]
        if not hit:
            return accepted, want
        node = hit[0]
        accepted.append(want)
