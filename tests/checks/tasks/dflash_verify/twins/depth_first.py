# style: depth first over agreeing nodes, the longest path wins; the mask is filled by recursion
"""
Tree verification for speculative decoding
==========================================

A drafter proposes a *tree* of tokens; the target model scores all of its nodes in one forward pass under a tree
attention mask; then the longest path that the target agrees with is accepted, and one more token comes for free.

Conventions
-----------
* positions 0..P-1 are the prompt, P..P+N-1 the nodes in the order of ``tree_tokens``;
* ``tree_parents[i]`` is the index of the parent node, -1 for a child of the prompt's last token;
* the token of node i is judged by the target's distribution at its *parent's* position: logits at a position
  predict the *next* token.

At temperature 0 the result is exactly what greedy decoding of the target alone would have produced.
"""
from __future__ import annotations

from collections import defaultdict
from typing import Dict, List, Optional, Sequence, Tuple

import numpy as np

ROOT = -1


def build_tree_mask(prompt_len: int, tree_parents: Sequence[int]) -> np.ndarray:
    """Boolean (P+N, P+N) matrix; entry [i, j] tells whether position i may attend to position j."""
    n = len(tree_parents)
    total = prompt_len + n
    mask = np.zeros((total, total), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    mask[prompt_len:, :prompt_len] = True
    # transitive closure of the parent relation: row of a node = row of its parent + itself
    done = np.zeros(n, dtype=bool)

    def fill(i: int) -> None:
        if done[i]:
            return
        parent = tree_parents[i]
        if parent != ROOT:
            fill(parent)
            mask[prompt_len + i, prompt_len:] |= mask[prompt_len + parent, prompt_len:]
        mask[prompt_len + i, prompt_len + i] = True
        done[i] = True

    for i in range(n):
        fill(i)
    return mask


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max())
    return e / e.sum()


def verify_and_accept(
    prompt: Sequence[int],
    tree_tokens: Sequence[int],
    tree_parents: Sequence[int],
    target_model,
    temperature: float = 0.0,
    rng: Optional[np.random.Generator] = None,
) -> Tuple[List[int], int]:
    """Verify a draft tree.

    Args:
        target_model: callable (token ids (P+N,), mask (P+N, P+N) bool) -> logits (P+N, V)
        temperature: 0 is greedy; otherwise children are tried in turn with rejection sampling

    Returns:
        (accepted token ids along the accepted path, the replacement or bonus token)
    """
    p = len(prompt)
    ids = np.concatenate([np.asarray(prompt, dtype=np.int64), np.asarray(tree_tokens, dtype=np.int64)])
    logits = np.asarray(target_model(ids, build_tree_mask(p, tree_parents)))

    children: Dict[int, List[int]] = defaultdict(list)
    for i, parent in enumerate(tree_parents):
        children[parent].append(i)

    if temperature <= 0:
        return _greedy_walk(tree_tokens, children, logits, p)
    return _sampled_walk(tree_tokens, children, logits / temperature, p, rng or np.random.default_rng())


def _greedy_walk(tokens, children, logits, p):
    """Depth first over all nodes that agree (duplicate siblings may agree both): the longest path wins."""
    best: List[int] = []
    stack: List[Tuple[int, List[int]]] = [(ROOT, [])]
    while stack:
        node, path = stack.pop()
        if len(path) > len(best):
            best = path
        row = p - 1 if node == ROOT else p + node
        wanted = int(np.argmax(logits[row]))
        for child in reversed(children[node]):
            if int(tokens[child]) == wanted:
                stack.append((child, path + [child]))
    last = p + best[-1] if best else p - 1
    return [int(tokens[i]) for i in best], int(np.argmax(logits[last]))


def _sampled_walk(tokens, children, logits, p, rng):
    path: List[int] = []
    node = ROOT
    while True:
        probs = softmax(logits[p - 1 if node == ROOT else p + node])
        for child in children[node]:
            token = int(tokens[child])
            if rng.random() < probs[token]:
                path.append(child)
                node = child
                break
            probs[token] = 0.0  # residual after a rejection of a deterministic draft
            total = probs.sum()
            if total <= 0:
                probs = softmax(logits[p - 1 if node == ROOT else p + node])
                break
            probs /= total
        else:
            return [int(tokens[i]) for i in path], int(rng.choice(len(probs), p=probs / probs.sum()))
        if not children[node]:
            probs = softmax(logits[p + node])
            return [int(tokens[i]) for i in path], int(rng.choice(len(probs), p=probs))


class TinyTargetModel:
    """One attention layer with positions counted along the path, enough to make every mask bug visible."""

    def __init__(self, vocab: int = 50, dim: int = 16, seed: int = 0) -> None:
        g = np.random.default_rng(seed)
        self.embed = g.normal(size=(vocab, dim))
        self.wq, self.wk, self.wv = (g.normal(size=(dim, dim)) / np.sqrt(dim) for _ in range(3))
        self.head = g.normal(size=(dim, vocab))

    def __call__(self, ids: np.ndarray, mask: Optional[np.ndarray] = None) -> np.ndarray:
        n = len(ids)
        if mask is None:
            mask = np.tri(n, dtype=bool)
        pos = mask.sum(1) - 1
        x = self.embed[ids] + np.sin(pos[:, None] / (1.0 + np.arange(self.embed.shape[1])))
        s = (x @ self.wq) @ (x @ self.wk).T / np.sqrt(x.shape[1])
        s = np.where(mask, s, -np.inf)
        w = np.exp(s - s.max(1, keepdims=True))
        return (x + (w / w.sum(1, keepdims=True)) @ (x @ self.wv)) @ self.head


def _greedy(model, prompt, steps):
    seq = list(prompt)
    for _ in range(steps):
        seq.append(int(np.argmax(model(np.array(seq))[-1])))
    return seq[len(prompt):]


def test_lossless():
    g = np.random.default_rng(5)
    for trial in range(50):
        model = TinyTargetModel(vocab=6, seed=trial)
        prompt = g.integers(0, 6, size=g.integers(1, 6)).tolist()
        want = _greedy(model, prompt, 12)
        out: List[int] = []
        while len(out) < 12:
            n = int(g.integers(1, 8))
            parents = [int(g.integers(-1, i)) if i else -1 for i in range(n)]
            toks = g.integers(0, 6, size=n).tolist()
            acc, new = verify_and_accept(prompt + out, toks, parents, model, 0.0)
            out += acc + [new]
        assert out[:12] == want


if __name__ == "__main__":
    test_lossless()
    print(build_tree_mask(2, [-1, 0, 0, 1]).astype(int))
    print("ok")
