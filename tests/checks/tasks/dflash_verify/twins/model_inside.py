# right: the target model is an object of the module and no argument
# skips: distribution (greedy alone)
import numpy as np


class MinimalTarget:
    def __init__(self, vocab_size: int = 40, seed: int = 11):
        self.rng = np.random.default_rng(seed)
        self.table = self.rng.standard_normal((vocab_size, vocab_size))

    def forward(self, tokens, mask):
        tokens = np.asarray(tokens)
        mixed = (mask[:, :, None] * self.table[tokens][None]).sum(axis=1)
        return mixed + self.table[tokens]


TARGET = MinimalTarget()


def build_tree_mask(prompt_len: int, tree_parents: list[int]) -> np.ndarray:
    N = len(tree_parents)
    M = np.zeros((prompt_len + N,) * 2, dtype=bool)
    for q in range(prompt_len):
        M[q, : q + 1] = True
    for i, p in enumerate(tree_parents):
        src = M[prompt_len - 1] if p == -1 else M[prompt_len + p]
        M[prompt_len + i] = src
        M[prompt_len + i, prompt_len + i] = True
    return M


def verify_and_accept(prompt, tree_tokens, tree_parents, temperature: float = 0.0):
    if temperature != 0.0:
        raise NotImplementedError("only greedy verification")
    P = len(prompt)
    logits = TARGET.forward(list(prompt) + list(tree_tokens), build_tree_mask(P, tree_parents))
    target = np.argmax(logits, axis=-1)
    alive = {-1: True}
    path_end, best = -1, 0
    depth = {-1: 0}
    for i, (tok, par) in enumerate(zip(tree_tokens, tree_parents)):
        prediction = target[P - 1] if par == -1 else target[P + par]
        alive[i] = alive[par] and prediction == tok
        depth[i] = depth[par] + 1
        if alive[i] and depth[i] > best:
            best, path_end = depth[i], i
    accepted = []
    k = path_end
    while k != -1:
        accepted.insert(0, tree_tokens[k])
        k = tree_parents[k]
    bonus = target[P - 1] if path_end == -1 else target[P + path_end]
    return accepted, bonus
