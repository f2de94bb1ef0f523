# right: parents count from one, zero is the prompt; a slotted result object with properties
# warns: distribution
import numpy as np


class Result:
    __slots__ = ("_path", "_tokens", "_next")

    def __init__(self, path, tokens, nxt):
        self._path, self._tokens, self._next = path, tokens, nxt

    @property
    def accepted(self):
        return self._tokens

    @property
    def new_token(self):
        return self._next


def build_tree_mask(prompt_len, tree_parents):
    """tree_parents[i] is 0 for a root and k for a child of the k-th node (1-based)."""
    n = len(tree_parents)
    above = [set() for _ in range(n + 1)]
    for k in range(1, n + 1):
        above[k] = above[tree_parents[k - 1]] | {k}
    mask = np.tri(prompt_len + n, dtype=bool)
    for k in range(1, n + 1):
        for j in range(1, n + 1):
            mask[prompt_len + k - 1, prompt_len + j - 1] = j in above[k]
    return mask


class Uniform:
    def logits(self, tokens, mask):
        return np.ones((len(tokens), 8))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    flat = list(prompt) + list(tree_tokens)
    z = target_model.logits(flat, build_tree_mask(P, tree_parents))
    at, path = 0, []
    while True:
        want = int(np.argmax(z[P + at - 1]))
        for k in range(1, len(tree_tokens) + 1):
            if tree_parents[k - 1] == at and tree_tokens[k - 1] == want:
                at = k
                path.append(k)
                break
        else:
            return Result(path, [tree_tokens[k - 1] for k in path], want)
