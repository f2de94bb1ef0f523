# bug: among surviving roots the first node counts as the deepest, rejected or not
# caught by: golden
# passes: tree_mask
"""Tree verification for speculative decoding, fully vectorised (no Python loop over nodes
in the decision, one target forward per cycle).

Conventions
-----------
* ``tree_parents[i]`` is the index of node i's parent in the draft tree, ``-1`` for a node that
  hangs directly on the last prompt token.  Parents precede their children.
* The target model is any callable ``target_model(tokens, mask) -> logits`` with ``tokens`` of
  shape (P+N,), ``mask`` boolean (P+N, P+N) (True = may attend) and logits (P+N, V).
* Row r of the logits predicts what comes *after* the token in row r; so node i is judged by
  the row of its parent, and roots by row P-1.

At temperature 0 the output is the greedy continuation of the target.  At temperature > 0 the
target token is drawn from its tempered distribution and a draft token is accepted when it
coincides with the draw (lossless for deterministic drafts).  One uniform per depth is shared by
all nodes of that depth, so duplicates of one path always agree with each other.
"""
from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

import numpy as np

TargetModel = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _ancestors(parents: np.ndarray) -> np.ndarray:
    """(N, N) boolean, [i, j] true when j is i itself or an ancestor of i."""
    n = parents.size
    anc = np.eye(n, dtype=bool)
    for i, p in enumerate(parents):
        if p >= 0:
            anc[i] |= anc[p]
    return anc


def build_tree_mask(prompt_len: int, tree_parents: Sequence[int]) -> np.ndarray:
    """Attention mask (P+N, P+N): causal prompt, nodes see the prompt and their own branch."""
    parents = np.asarray(tree_parents, dtype=np.int64).reshape(-1)
    n, p = parents.size, int(prompt_len)
    mask = np.zeros((p + n, p + n), dtype=bool)
    mask[:p, :p] = np.tri(p, dtype=bool)
    mask[p:, :p] = True
    mask[p:, p:] = _ancestors(parents)
    return mask


def _target_choice(logits: np.ndarray, level: np.ndarray, temperature: float,
                   rng: np.random.Generator) -> np.ndarray:
    """The token that the target emits after every row; ``level`` picks the shared uniform."""
    if temperature <= 0.0:
        return logits.argmax(axis=-1)
    z = (logits - logits.max(axis=-1, keepdims=True)) / temperature
    cdf = np.exp(z).cumsum(axis=-1)
    u = rng.random(int(level.max()) + 1)[level] * cdf[:, -1]
    return np.minimum((cdf <= u[:, None]).sum(axis=-1), logits.shape[-1] - 1)


def verify_and_accept(
    prompt: Sequence[int],
    tree_tokens: Sequence[int],
    tree_parents: Sequence[int],
    target_model: TargetModel,
    temperature: float = 0.0,
    rng: Optional[np.random.Generator] = None,
) -> Tuple[List[int], int]:
    """Verify a draft tree with one forward pass.

    Returns ``(accepted_tokens, new_token)``: the tokens of the longest accepted path from the
    prompt downwards, and the target's own token after it (replacement or bonus).
    """
    prompt = np.asarray(prompt, dtype=np.int64).reshape(-1)
    tokens = np.asarray(tree_tokens, dtype=np.int64).reshape(-1)
    parents = np.asarray(tree_parents, dtype=np.int64).reshape(-1)
    if tokens.size != parents.size:
        raise ValueError("tree_tokens and tree_parents differ in length")
    if prompt.size == 0:
        raise ValueError("the prompt must hold at least one token")
    rng = rng if rng is not None else np.random.default_rng(0)
    p = prompt.size

    mask = build_tree_mask(p, parents)
    logits = np.asarray(target_model(np.concatenate([prompt, tokens]), mask), dtype=np.float64)

    branch = mask[p:, p:]
    depth = branch.sum(axis=1) - 1                       # roots are at depth 0
    level = np.concatenate([[0], depth + 1])
    # choice[0] follows the prompt, choice[1 + i] follows node i
    choice = _target_choice(logits[p - 1:], level, temperature, rng)

    match = tokens == choice[parents + 1]                # -1 -> the prompt's slot
    alive = ~(branch & ~match).any(axis=1)               # every node of the branch matched
    if not alive.any():
        return [], int(choice[0])

    tip = int(np.argmax(depth * alive))                  # deepest surviving node
    path = np.flatnonzero(branch[tip])
    return tokens[path].tolist(), int(choice[tip + 1])


class TinyTarget:
    """Minimal target: embedding + depth encoding, one masked attention head, tied output."""

    def __init__(self, vocab: int = 7, dim: int = 16, seed: int = 0):
        r = np.random.default_rng(seed)
        self.emb = r.normal(size=(vocab, dim))
        self.wq, self.wk, self.wv = r.normal(size=(3, dim, dim)) / np.sqrt(dim)
        self.freq = 1.0 / 50.0 ** (np.arange(dim) / dim)

    def __call__(self, tokens: np.ndarray, mask: np.ndarray) -> np.ndarray:
        pos = mask.sum(axis=1) - 1                       # position = number of visible others
        h = self.emb[tokens] + np.sin(pos[:, None] * self.freq)
        s = (h @ self.wq) @ (h @ self.wk).T / np.sqrt(h.shape[1])
        s = np.where(mask, s, -np.inf)
        w = np.exp(s - s.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        return (h + 2.0 * w @ (h @ self.wv)) @ self.emb.T


def greedy(model: TargetModel, prompt: Sequence[int], steps: int) -> List[int]:
    """Plain autoregressive greedy decoding."""
    seq = list(prompt)
    for _ in range(steps):
        seq.append(int(model(np.array(seq), np.tri(len(seq), dtype=bool))[-1].argmax()))
    return seq[len(prompt):]


# ----------------------------------------------------------------------------------- tests
