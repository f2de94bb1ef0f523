# bug: the submission's own target lets a node see all that is listed before it, whatever the mask says
# caught by: golden (warn)
# passes: tree_mask
# only: golden, tree_mask
import numpy as np


class SmallTarget:
    def __init__(self, vocab=24, width=16, longest=128):
        rng = np.random.default_rng(11)
        self.embed, self.place = rng.normal(size=(vocab, width)), 0.3 * rng.normal(size=(longest, width))
        self.mix, self.out = rng.normal(size=(width, width)), rng.normal(size=(width, vocab))

    def forward(self, ids, mask):
        seen = np.asarray(mask, bool)
        where = seen.sum(axis=1) - 1
        x = self.embed[np.asarray(ids)] + self.place[where]
        s = np.where(np.tri(len(ids), dtype=bool), x @ self.mix @ x.T / 400.0, -np.inf)
        p = np.exp(s - s.max(1, keepdims=True))
        return (0.3 * x + (p / p.sum(1, keepdims=True)) @ x) @ self.out


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.zeros((size, size), bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    for node, parent in enumerate(tree_parents):
        row = prompt_len + node
        mask[row] = mask[prompt_len + parent] if parent >= 0 else np.arange(size) < prompt_len
        mask[row, row] = True
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    start = len(prompt)
    ids = np.array([*prompt, *tree_tokens], dtype=int)
    logits = np.asarray(target_model.forward(ids, build_tree_mask(start, tree_parents)))
    taken, at = [], -1
    while True:
        best = int(logits[start + at if at >= 0 else start - 1].argmax())
        nexts = [n for n, p in enumerate(tree_parents) if p == at and tree_tokens[n] == best]
        if not nexts:
            return taken, best
        at = nexts[0]
        taken.append(best)
