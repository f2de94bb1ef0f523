# bug: the new token comes from the last row of the tree, whatever was accepted
# caught by: parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    flat = list(range(-1, prompt_len - 1)) + [p + prompt_len if p >= 0 else prompt_len - 1 for p in tree_parents]
    out = np.zeros((size, size), dtype=bool)
    for i in range(size):
        j = i
        while j >= 0:
            out[i, j] = True
            j = flat[j]
    return out


def accept(logits, P, tokens, parents):
    node, got = -1, []
    while True:
        want = int(np.argmax(logits[P + node]))
        nxt = next((i for i in range(len(tokens)) if parents[i] == node and tokens[i] == want), None)
        if nxt is None:
            return got
        got.append(want)
        node = nxt


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    return accept(logits, P, tree_tokens, tree_parents), int(np.argmax(logits[-1]))
