# bug: of siblings with the same token both are accepted
# caught by: golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    mask[prompt_len:, :prompt_len] = True
    for i in range(n):
        k = i
        while k > -1:
            mask[prompt_len + i, prompt_len + k] = True
            k = tree_parents[k]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    ok = {-1}
    accepted, last = [], -1
    depth = {-1: 0}
    for i in range(len(tree_tokens)):
        p = tree_parents[i]
        depth[i] = depth[p] + 1
        if p in ok and int(np.argmax(logits[P + p])) == tree_tokens[i]:
            ok.add(i)
            accepted.append(i)
            if depth[i] > depth[last]:
                last = i
    return accepted, int(np.argmax(logits[P + last]))
