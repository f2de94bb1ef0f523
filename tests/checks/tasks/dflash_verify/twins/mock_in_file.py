# right: a mock model and tests in the same file, a generator may be given
"""DFlash verification with mocks and tests in one file."""
from typing import List, Optional, Tuple, Callable
import numpy as np


class ScriptedModel:
    def __init__(self, next_token: dict, vocab_size: int = 10):
        self.next_token = next_token
        self.vocab_size = vocab_size

    def __call__(self, token_ids: np.ndarray, attn_mask: Optional[np.ndarray] = None) -> np.ndarray:
        n = len(token_ids)
        if attn_mask is None:
            attn_mask = np.tril(np.ones((n, n), bool))
        logits = np.zeros((n, self.vocab_size))
        for i in range(n):
            ctx = tuple(int(token_ids[j]) for j in range(n) if attn_mask[i, j])
            logits[i, self.next_token.get(ctx, 0)] = 10.0
        return logits


def build_tree_mask(prompt_len: int, tree_parents: List[int]) -> np.ndarray:
    n_tree = len(tree_parents)
    size = prompt_len + n_tree
    mask = np.zeros((size, size), dtype=bool)
    for i in range(prompt_len):
        for j in range(i + 1):
            mask[i, j] = True
    for i, parent in enumerate(tree_parents):
        row = prompt_len + i
        mask[row, row] = True
        if parent == -1:
            mask[row, :prompt_len] = True
        else:
            mask[row] |= mask[prompt_len + parent]
    return mask


def sample_from_logits(logits, temperature, rng):
    if temperature == 0.0:
        return int(np.argmax(logits))
    probs = np.exp((logits - np.max(logits)) / temperature)
    probs /= probs.sum()
    return int(rng.choice(len(probs), p=probs))


def verify_and_accept(
    prompt: List[int],
    tree_tokens: List[int],
    tree_parents: List[int],
    target_model: Callable,
    temperature: float = 0.0,
    rng: Optional[np.random.Generator] = None,
) -> Tuple[List[int], int]:
    rng = rng or np.random.default_rng()
    prompt_len = len(prompt)
    token_ids = np.array(list(prompt) + list(tree_tokens), dtype=np.int64)
    logits = target_model(token_ids, attn_mask=build_tree_mask(prompt_len, tree_parents))

    children = [[] for _ in range(len(tree_tokens) + 1)]
    for i, p in enumerate(tree_parents):
        children[p + 1].append(i)

    accepted = []
    current = -1
    while True:
        token = sample_from_logits(logits[prompt_len + current], temperature, rng)
        for c in children[current + 1]:
            if tree_tokens[c] == token:
                accepted.append(token)
                current = c
                break
        else:
            return accepted, token


def test_mask_shape():
    assert build_tree_mask(3, [-1, 0]).shape == (5, 5)


def test_accept_chain():
    model = ScriptedModel({(1,): 2, (1, 2): 3, (1, 2, 3): 4})
    assert verify_and_accept([1], [2, 3], [-1, 0], model) == ([2, 3], 4)


if __name__ == "__main__":
    test_mask_shape()
    test_accept_chain()
    print("ok")
