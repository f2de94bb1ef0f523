# bug: the mask is of ones and zeros and not of booleans
# caught by: tree_mask (warn)
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=np.int8)
    mask[prompt_len:, prompt_len:] = 0
    for i in range(n):
        j = i
        while j >= 0:
            mask[prompt_len + i, prompt_len + j] = 1
            j = tree_parents[j]
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
