# bug: a node is judged by the row listed before it, as in a chain, and not by its parent's
# caught by: parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    total = prompt_len + len(tree_parents)
    mask = np.zeros((total, total), dtype=bool)
    for q in range(total):
        if q < prompt_len:
            mask[q, : q + 1] = True
        else:
            mask[q, :prompt_len] = True
            k = q - prompt_len
            while k >= 0:
                mask[q, prompt_len + k] = True
                k = tree_parents[k]
    return mask


class Verdict:
    __slots__ = ("accepted", "new_token")

    def __init__(self, accepted, new_token):
        self.accepted = accepted
        self.new_token = new_token


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model.forward(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    ok = {-1: []}
    for i, token in enumerate(tree_tokens):
        if tree_parents[i] in ok and int(np.argmax(logits[P + i - 1])) == token:
            ok[i] = ok[tree_parents[i]] + [i]
    best = max(ok.values(), key=len)
    last = best[-1] if best else -1
    return Verdict([tree_tokens[i] for i in best], int(np.argmax(logits[P + last])))
