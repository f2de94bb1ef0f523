# bug: parent and token are packed into one number whose base is the largest drafted token
# caught by: golden
# passes: tree_mask
"""Speculative decoding with a token tree: mask, verification, acceptance.

The children of a node are found by binary search in one sorted array of edges
(parent, token), packed in a single integer, rather than in a dict per node: one
sort per tree, no Python objects per edge.
"""
from typing import List, Sequence, Tuple

import numpy as np


class CountingModel:
    """Minimal target model: logits depend on the last token and a bag of the rest."""

    def __init__(self, vocab_size: int, seed: int = 0):
        rng = np.random.default_rng(seed)
        self.vocab_size = vocab_size
        self.bigram = rng.normal(size=(vocab_size, vocab_size))
        self.bag = rng.normal(size=(vocab_size, vocab_size))

    def __call__(self, tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
        tokens = np.asarray(tokens)
        counts = mask.astype(float) @ np.eye(self.vocab_size)[tokens]
        return self.bigram[tokens] + np.sin(counts) @ self.bag


def build_tree_mask(prompt_len: int, tree_parents: Sequence[int]) -> np.ndarray:
    """Boolean mask (P+N, P+N): causal prompt; nodes see prompt, ancestors, self."""
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tril(np.ones((prompt_len, prompt_len), dtype=bool))
    mask[prompt_len:, :prompt_len] = True
    for node in range(n):
        ancestor = node
        while ancestor != -1:
            mask[prompt_len + node, prompt_len + ancestor] = True
            ancestor = int(tree_parents[ancestor])
    return mask


class EdgeIndex:
    """Sorted packed edges of one tree: ``(parent + 1) * base + token``."""

    def __init__(self, tokens: np.ndarray, parents: np.ndarray):
        self.base = int(tokens.max()) + 1 if tokens.size else 1
        keys = (parents + 1) * self.base + tokens
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]

    def child(self, parent: int, token: int) -> int:
        """First child of ``parent`` that carries ``token``; -1 if there is none."""
        key = (parent + 1) * self.base + token
        at = int(np.searchsorted(self.keys, key))
        if at < self.keys.size and self.keys[at] == key:
            return int(self.order[at])
        return -1


def _pick(logits: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    if temperature == 0.0:
        return int(logits.argmax())
    scaled = (logits - logits.max()) / temperature
    probs = np.exp(scaled)
    return int(rng.choice(len(probs), p=probs / probs.sum()))


def verify_and_accept(
    prompt: Sequence[int],
    tree_tokens: Sequence[int],
    tree_parents: Sequence[int],
    target_model,
    temperature: float = 0.0,
) -> Tuple[List[int], int]:
    """Walk down the tree along the target's own choices.

    The choice at a node is made from the logits of that node, i.e. a child is
    judged at its parent (roots: at the last prompt token).

    Returns the accepted tokens, and the token that the target puts after them.
    """
    prompt = np.asarray(prompt, dtype=np.int64)
    tokens = np.asarray(tree_tokens, dtype=np.int64)
    parents = np.asarray(tree_parents, dtype=np.int64)
    mask = build_tree_mask(len(prompt), parents)
    logits = target_model(np.concatenate([prompt, tokens]), mask)

    edges = EdgeIndex(tokens, parents)
    rng = np.random.default_rng(1234)
    accepted: List[int] = []
    node = -1
    while True:
        choice = _pick(logits[len(prompt) + node], temperature, rng)
        child = edges.child(node, choice)
        if child < 0:
            return accepted, choice
        accepted.append(int(tokens[child]))
        node = child


# ------------------------------------------------------------------------- tests


def _greedy(model, prompt, steps):
    text = list(prompt)
    for _ in range(steps):
        n = len(text)
        text.append(int(model(np.array(text), np.tri(n, dtype=bool))[-1].argmax()))
    return text[len(prompt):]
