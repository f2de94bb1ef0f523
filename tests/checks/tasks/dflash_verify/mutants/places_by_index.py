# bug: the model is told that nodes stand where they are listed, and not at their depth
# caught by: golden, parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(n, dtype=bool)
    for i in range(n):
        if tree_parents[i] != -1:
            mask[prompt_len + i] |= mask[prompt_len + tree_parents[i]]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    tokens = np.array(list(prompt) + list(tree_tokens))
    logits = target_model.forward(tokens, mask=build_tree_mask(P, tree_parents), positions=np.arange(len(tokens)))
    accepted, node = [], -1
    while True:
        want = int(np.argmax(logits[P + node]))
        hit = next((i for i, p in enumerate(tree_parents) if p == node and tree_tokens[i] == want), None)
        if hit is None:
            return accepted, want
        node = hit
        accepted.append(want)
