# bug: a list of 32 refused siblings is full, and those that come after are drawn again
# caught by: distribution
# passes: golden, parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = prompt_len + len(tree_parents)
    mask = np.tril(np.ones((n, n), dtype=bool))
    mask[prompt_len:, prompt_len:] = np.eye(len(tree_parents), dtype=bool)
    for node, parent in enumerate(tree_parents):
        while parent >= 0:
            mask[prompt_len + node, prompt_len + parent] = True
            parent = tree_parents[parent]
    return mask


def probabilities(logits, temperature):
    if temperature == 0:
        return (np.arange(len(logits)) == np.argmax(logits)).astype(float)
    weights = np.exp((logits - np.max(logits)) / temperature)
    return weights / weights.sum()


class Refused:
    ROOM = 32

    def __init__(self):
        self.tokens = []

    def __contains__(self, token):
        return token in self.tokens

    def add(self, token):
        if len(self.tokens) < self.ROOM:
            self.tokens.append(token)

    def left(self, p):
        kept = p.copy()
        for token in self.tokens:
            kept[token] = 0.0
        return kept / kept.sum() if kept.sum() > 0 else p


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    ids = np.array([*prompt, *tree_tokens])
    logits = np.asarray(target_model(ids, build_tree_mask(len(prompt), tree_parents)))
    at, accepted = -1, []
    while True:
        p = probabilities(logits[len(prompt) + at], temperature)
        refused = Refused()
        for child in (node for node, parent in enumerate(tree_parents) if parent == at):
            token = int(tree_tokens[child])
            left = refused.left(p)
            if token not in refused and np.random.random() < left[token]:
                at = child
                accepted.append(token)
                break
            refused.add(token)
        else:
            left = refused.left(p)
            return accepted, int(np.random.choice(len(left), p=left))
