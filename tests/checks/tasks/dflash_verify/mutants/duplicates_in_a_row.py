# bug: every accepted node goes into the answer, duplicate siblings as well, in the order of listing
# caught by: golden
# passes: tree_mask, parent_logits, subtree_invalidation
"""DFlash-style tree verification (NumPy)."""
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    size = prompt_len + n
    mask = np.zeros((size, size), dtype=bool)
    for i in range(prompt_len):
        mask[i, : i + 1] = True
    for i in range(n):
        mask[prompt_len + i, :prompt_len] = True
        j = i
        while j != -1:
            mask[prompt_len + i, prompt_len + j] = True
            j = tree_parents[j]
    return mask


class MinimalTargetModel:
    def __init__(self, vocab_size=64, d_model=32, seed=0):
        rng = np.random.default_rng(seed)
        self.E = rng.normal(0, 1, (vocab_size, d_model))
        self.W = rng.normal(0, 1 / np.sqrt(d_model), (d_model, d_model))
        self.U = rng.normal(0, 1, (d_model, vocab_size))

    def forward(self, tokens, mask):
        x = self.E[np.asarray(tokens)]
        w = mask / mask.sum(-1, keepdims=True)
        return np.tanh((w @ x + 0.5 * x) @ self.W) @ self.U


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P, N = len(prompt), len(tree_tokens)
    tokens = np.array(list(prompt) + list(tree_tokens))
    mask = build_tree_mask(P, tree_parents)
    logits = target_model.forward(tokens, mask)

    def choose(row):
        if temperature == 0:
            return int(np.argmax(row))
        z = row / temperature
        p = np.exp(z - z.max())
        return int(np.random.choice(len(p), p=p / p.sum()))

    choice = {-1: choose(logits[P - 1])}
    accepted = np.zeros(N, dtype=bool)
    for i in range(N):
        parent = tree_parents[i]
        parent_ok = parent == -1 or accepted[parent]
        if not parent_ok:
            continue  # subtree of a rejected node
        accepted[i] = tree_tokens[i] == choice[parent]
        if accepted[i]:
            choice[i] = choose(logits[P + i])
    path = np.flatnonzero(accepted)
    accepted_tokens = [int(tree_tokens[i]) for i in path]
    last = int(path[-1]) if len(path) else -1
    return accepted_tokens, choice[last]


if __name__ == "__main__":
    model = MinimalTargetModel(10)
    rng = np.random.default_rng(0)
    seq, ref = [1, 2, 3], [1, 2, 3]
    for _ in range(40):
        ref.append(int(np.argmax(model.forward(np.array(ref), np.tri(len(ref), dtype=bool))[-1])))
    while len(seq) < len(ref):
        # a tree of distinct children: 3 at the root, 2 below each
        toks = list(rng.choice(10, 3, replace=False)) + [int(t) for _ in range(3) for t in rng.choice(10, 2, replace=False)]
        parents = [-1, -1, -1, 0, 0, 1, 1, 2, 2]
        acc, new = verify_and_accept(seq, toks, parents, model)
        seq += acc + [new]
    assert seq[: len(ref)] == ref
    print("OK")
