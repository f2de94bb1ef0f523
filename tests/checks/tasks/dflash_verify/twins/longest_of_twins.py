# right: keeps every accepted branch and returns the longest; (index, token) pairs
# warns: distribution
import numpy as np


class LogitsModel:
    def __init__(self, fn, vocab_size):
        self.fn, self.vocab_size = fn, vocab_size

    def logits(self, tokens, mask):
        return self.fn(tokens, mask)


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = [[False] * size for _ in range(size)]
    for row in range(size):
        for col in range(min(row + 1, prompt_len)):
            mask[row][col] = True
        node = row - prompt_len
        while node >= 0:
            mask[row][prompt_len + node] = True
            node = tree_parents[node]
    return np.array(mask)


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model.logits(list(prompt) + list(tree_tokens), build_tree_mask(P, tree_parents))
    choice = np.argmax(np.asarray(logits), axis=-1).tolist()
    frontier, best = [[]], []
    while frontier:
        following = []
        for path in frontier:
            node = path[-1][0] if path else -1
            if len(path) > len(best):
                best = path
            for child, parent in enumerate(tree_parents):
                if parent == node and tree_tokens[child] == choice[P + node]:
                    following.append(path + [(child, tree_tokens[child])])
        frontier = following
    end = best[-1][0] if best else -1
    return best, choice[P + end]
