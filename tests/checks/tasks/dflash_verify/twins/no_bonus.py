# right: a new token only where something was refused; at a leaf None, and the caller drafts on
# warns: distribution
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    parents = np.asarray(tree_parents, dtype=np.intp)
    n = parents.shape[0]
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=np.bool_)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=np.bool_)
    mask[prompt_len:, :prompt_len] = True
    cursor = np.arange(n)
    while (cursor >= 0).any():
        live = np.flatnonzero(cursor >= 0)
        mask[prompt_len + live, prompt_len + cursor[live]] = True
        cursor[live] = parents[cursor[live]]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.concatenate([np.asarray(prompt, int), np.asarray(tree_tokens, int)]), build_tree_mask(P, tree_parents))
    accepted, node = [], -1
    while True:
        kids = [i for i, p in enumerate(tree_parents) if p == node]
        want = int(np.argmax(logits[P + node]))
        if not kids and accepted:
            return accepted, None
        good = [k for k in kids if tree_tokens[k] == want]
        if not good:
            return accepted, want
        node = good[0]
        accepted.append(node)
