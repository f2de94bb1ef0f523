# right: two files that are whole answers, both right
# warns: distribution
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.zeros((size, size), bool)
    for row in range(size):
        at = row
        while at >= prompt_len:
            mask[row, at] = True
            parent = tree_parents[at - prompt_len]
            at = prompt_len + parent if parent >= 0 else -1
        mask[row, : min(row + 1, prompt_len)] = True
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    size = len(prompt)
    logits = target_model.forward([*prompt, *tree_tokens], build_tree_mask(size, tree_parents))
    accepted, at = [], -1
    while True:
        wanted = int(np.argmax(logits[size + at]))
        found = [n for n, p in enumerate(tree_parents) if p == at and tree_tokens[n] == wanted]
        if not found:
            return accepted, wanted
        at = found[0]
        accepted.append(wanted)
