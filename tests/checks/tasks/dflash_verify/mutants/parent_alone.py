# bug: a node sees its parent but none of the ancestors above
# caught by: tree_mask, parent_logits, golden
"""A class that keeps mask and verification together."""
import numpy as np


class TreeVerifier:
    def __init__(self, target_model):
        self.model = target_model

    def build_tree_mask(self, prompt_len, tree_parents):
        n = len(tree_parents)
        mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
        for i in range(prompt_len):
            mask[i, :i + 1] = True
        for i, parent in enumerate(tree_parents):
            mask[prompt_len + i, :prompt_len] = True
            mask[prompt_len + i, prompt_len + i] = True
            if parent >= 0:
                mask[prompt_len + i, prompt_len + parent] = True
        return mask

    def verify_and_accept(self, prompt, tree_tokens, tree_parents, temperature=0.0):
        p = len(prompt)
        ids = np.concatenate([prompt, tree_tokens]).astype(int)
        rows = self.model.forward(ids, self.build_tree_mask(p, tree_parents))
        kids = {}
        for i, parent in enumerate(tree_parents):
            kids.setdefault(int(parent), []).append(i)
        path, at = [], -1
        while True:
            want = int(rows[p + at].argmax())
            nxt = [k for k in kids.get(at, []) if tree_tokens[k] == want]
            if not nxt:
                return path, want
            at = nxt[0]
            path.append(at)
