# right: the target is a function of the module; arrays only
# warns: distribution
import numpy as np

VOCAB = 50
_W = np.random.default_rng(2).standard_normal((VOCAB, VOCAB))


def target_logits(tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
    weights = mask / mask.sum(axis=1, keepdims=True)
    return weights @ _W[tokens % VOCAB]


def build_tree_mask(prompt_len: int, tree_parents: np.ndarray) -> np.ndarray:
    n = tree_parents.shape[0]
    rows, cols = np.indices((prompt_len + n, prompt_len + n))
    mask = (cols <= rows) & (cols < prompt_len)
    for i in range(n):
        j = i
        while j >= 0:
            mask[prompt_len + i, prompt_len + j] = True
            j = tree_parents[j]
    return mask


def verify_and_accept(prompt: np.ndarray, tree_tokens: np.ndarray, tree_parents: np.ndarray, temperature: float = 0.0):
    tokens = np.hstack([prompt, tree_tokens])
    p = prompt.shape[0]
    logits = target_logits(tokens, build_tree_mask(p, tree_parents))
    accepted = np.zeros(0, dtype=np.int64)
    node = -1
    while True:
        token = logits[p + node].argmax()
        hits = np.flatnonzero((tree_parents == node) & (tree_tokens == token))
        if hits.size == 0:
            return accepted, token
        node = hits[0]
        accepted = np.append(accepted, tree_tokens[node])
