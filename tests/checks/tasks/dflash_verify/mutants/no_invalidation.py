# bug: each node is judged at its parent, whether or not the parent was accepted
# caught by: subtree_invalidation, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tril(np.ones((prompt_len, prompt_len)))
    for i in range(n):
        mask[prompt_len + i, :prompt_len] = True
        j = i
        while j >= 0:
            mask[prompt_len + i, prompt_len + j] = True
            j = tree_parents[j]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    accepted, last = [], -1
    for i, token in enumerate(tree_tokens):
        row = P - 1 if tree_parents[i] < 0 else P + tree_parents[i]
        if int(np.argmax(logits[row])) == token:
            accepted.append(int(token))
            last = i
    return accepted, int(np.argmax(logits[P + last]))
