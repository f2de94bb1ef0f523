# bug: the parent's row is looked up without the prompt's length
# caught by: parent_logits, golden
import numpy as np


class Verifier:
    """Holds nothing but the target."""

    def __init__(self, model):
        self.model = model

    def build_tree_mask(self, prompt_len, tree_parents):
        n = len(tree_parents)
        a = np.eye(n, dtype=bool)
        for i in range(n):
            if tree_parents[i] >= 0:
                a[i] |= a[tree_parents[i]]
        top = np.concatenate([np.tri(prompt_len, dtype=bool), np.zeros((prompt_len, n), bool)], axis=1)
        return np.concatenate([top, np.concatenate([np.ones((n, prompt_len), bool), a], axis=1)])

    def verify_and_accept(self, prompt, tree_tokens, tree_parents, temperature=0.0):
        P = len(prompt)
        choice = np.argmax(self.model(np.r_[prompt, tree_tokens].astype(int), self.build_tree_mask(P, tree_parents)), axis=-1)
        ok = []
        for i, p in enumerate(tree_parents):
            row = P - 1 if p < 0 else p
            ok.append(bool(choice[row] == tree_tokens[i]) and (p < 0 or ok[p]))
        best = []
        for i in range(len(ok)):
            path, j = [], i
            while j >= 0 and ok[j]:
                path.insert(0, j)
                j = tree_parents[j]
            if j < 0 and len(path) > len(best):
                best = path
        last = best[-1] if best else -1
        return best, int(choice[P + last])
