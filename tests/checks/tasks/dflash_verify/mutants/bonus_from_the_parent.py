# bug: the new token comes from the row of the last accepted node's parent, so it is that node once more
# caught by: parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    m = np.tri(prompt_len + n, dtype=bool)
    m[prompt_len:, prompt_len:] = np.eye(n, dtype=bool)
    for i, p in enumerate(tree_parents):
        if p >= 0:
            m[prompt_len + i] |= m[prompt_len + p]
    return m


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    row, node, accepted = P - 1, -1, []
    while True:
        want = int(logits[P + node].argmax())
        hits = [i for i, p in enumerate(tree_parents) if p == node and tree_tokens[i] == want]
        if not hits:
            break
        row = P + node
        node = hits[0]
        accepted.append(want)
    return accepted, int(logits[row].argmax())
