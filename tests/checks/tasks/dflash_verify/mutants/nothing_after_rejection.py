# bug: after a rejection there is no replacement
# caught by: parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
    for i in range(prompt_len + n):
        mask[i, : min(i + 1, prompt_len)] = True
    for i in range(n):
        j = i
        while j >= 0:
            mask[prompt_len + i, prompt_len + j] = True
            j = tree_parents[j]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    accepted, node = [], -1
    while True:
        kids = [i for i, p in enumerate(tree_parents) if p == node]
        want = int(np.argmax(logits[P + node]))
        hit = [k for k in kids if tree_tokens[k] == want]
        if kids and not hit:
            return accepted, None
        if not kids:
            return accepted, want
        node = hit[0]
        accepted.append(want)
