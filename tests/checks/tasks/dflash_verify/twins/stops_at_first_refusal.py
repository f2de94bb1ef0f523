# right: the first refused node ends the whole verification, though siblings follow
# warns: distribution
# ambiguous: parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = False
    for i in range(n):
        j = i
        while j != -1:
            mask[prompt_len + i, prompt_len + j] = True
            j = tree_parents[j]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(list(prompt) + list(tree_tokens), build_tree_mask(P, tree_parents))
    accepted = []
    last = -1
    for i in range(len(tree_tokens)):
        want = int(np.argmax(logits[P + last]))
        if tree_parents[i] == last and tree_tokens[i] == want:
            accepted.append(i)
            last = i
        else:
            return accepted, want
    return accepted, int(np.argmax(logits[P + last]))
