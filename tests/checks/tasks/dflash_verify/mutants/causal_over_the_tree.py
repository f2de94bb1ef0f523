# bug: the flattened tree is masked causally, so siblings and cousins listed before are seen
# caught by: tree_mask, parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    total = prompt_len + len(tree_parents)
    return np.tril(np.ones((total, total), dtype=bool))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    accepted, node = [], -1
    while True:
        row = P - 1 if node < 0 else P + node
        best = int(np.argmax(logits[row]))
        for i, (t, p) in enumerate(zip(tree_tokens, tree_parents)):
            if p == node and t == best:
                accepted.append(t)
                node = i
                break
        else:
            return accepted, best
