# right: the target is a named tuple of weights, and a function of the file answers for it
"""Vectorised tree verification for speculative decoding.

There is no tree walk in this file.  The idea:

1.  one packed target pass gives a logits row for the last prompt token and for
    every draft node;
2.  every row makes up its mind once ("what comes after me?"), by argmax at
    temperature 0 or by Gumbel-max above it;
3.  a node is *locally* right iff its parent's row chose its token;
4.  a node is accepted iff it and all of its ancestors are locally right, which is
    one boolean reduction over the tree block of the attention mask;
5.  the deepest accepted node is the answer and its row's choice is the bonus
    token.

Drawing one sample per row and following it is exact ancestral sampling from the
target, so no rejection step is needed.  The one trap is that a tree may hold the
same path twice: both copies have to make the *same* random choice, or picking the
deeper copy would favour choices that happen to be drafted.  Noise is therefore
drawn per distinct path, not per node.
"""

import numpy as np
from typing import NamedTuple

__all__ = ["RetentionLM", "make_retention_lm", "retention_logits", "greedy_reference",
           "build_tree_mask", "verify_and_accept"]


# --------------------------------------------------------------------------- target

class RetentionLM(NamedTuple):
    """Weights of a two-layer retention (decayed linear attention) language model."""
    table: np.ndarray    # (V, D)      token vectors, tied with the output
    query: np.ndarray    # (L, D, D)
    key: np.ndarray      # (L, D, D)
    value: np.ndarray    # (L, D, D)
    decay: np.ndarray    # (L,)        in (0, 1)


def make_retention_lm(vocab_size, width=24, layers=2, seed=0):
    """A random, deterministic target model."""
    g = np.random.default_rng(seed)
    mats = g.normal(size=(3, layers, width, width)) / np.sqrt(width)
    return RetentionLM(
        table=g.normal(size=(vocab_size, width)),
        query=mats[0], key=mats[1], value=mats[2],
        decay=1.0 - 2.0 ** -np.arange(1.0, layers + 1.0),
    )


def _unit(x):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-8)


def retention_logits(lm, tokens, positions, mask):
    """Logits (S, V).  ``mask[i, j]`` allows row i to read row j; distances in the
    decay come from ``positions``, so packed branches behave like plain text."""
    tokens = np.asarray(tokens, dtype=np.intp)
    positions = np.asarray(positions, dtype=np.intp)
    gap = np.where(mask, positions[:, None] - positions[None, :], 0)
    h = lm.table[tokens]
    for wq, wk, wv, decay in zip(lm.query, lm.key, lm.value, lm.decay):
        u = _unit(h)
        weight = np.where(mask, decay ** gap, 0.0) * ((u @ wq) @ (u @ wk).T)
        h = h + 2.0 * _unit(np.tanh(weight @ (u @ wv) / np.sqrt(u.shape[1])))
    return _unit(h) @ lm.table.T


def greedy_reference(lm, prompt, count):
    """``count`` tokens of ordinary greedy decoding (used to check the verifier)."""
    text = list(prompt)
    while len(text) < len(prompt) + count:
        n = len(text)
        text.append(int(retention_logits(lm, text, np.arange(n),
                                         np.tri(n, dtype=bool))[-1].argmax()))
    return np.array(text[len(prompt):], dtype=np.int64)


# ----------------------------------------------------------------------------- tree

def _ancestor_matrix(tree_parents):
    """(N, N) bool, entry [i, a] is True iff a is i or an ancestor of i.

    Pointer doubling: after k rounds each row covers 2**k generations, so log2(N)
    boolean products suffice and the order of the nodes is irrelevant.
    """
    parents = np.asarray(tree_parents, dtype=np.intp).reshape(-1)
    n = parents.size
    if n and (parents.min() < -1 or parents.max() >= n):
        raise ValueError("every parent must be -1 or the index of a node")
    reach = np.eye(n, dtype=bool)
    jump = np.append(parents, -1)            # jump[-1] == -1: the prompt absorbs
    covered = 1
    while covered < n + 1:
        hop = jump[:n]
        alive = hop >= 0
        grown = reach.copy()
        grown[alive] |= reach[hop[alive]]
        reach = grown
        jump = jump[jump]
        covered *= 2
    if (jump[:n] >= 0).any():
        raise ValueError("tree_parents has a cycle")
    return reach


def build_tree_mask(prompt_len, tree_parents):
    """(P+N, P+N) bool attention mask, True = visible."""
    reach = _ancestor_matrix(tree_parents)
    p, n = int(prompt_len), reach.shape[0]
    return np.block([
        [np.tri(p, dtype=bool), np.zeros((p, n), dtype=bool)],
        [np.ones((n, p), dtype=bool), reach],
    ])


def _path_ids(tokens, parents, depth):
    """Label rows (row 0 = last prompt token, row i+1 = node i) so that two rows get
    the same label iff they spell the same text."""
    label = np.zeros(tokens.size + 1, dtype=np.intp)
    seen = {}
    for i in np.argsort(depth, kind="stable"):
        spelled = (label[parents[i] + 1], tokens[i])
        label[i + 1] = seen.setdefault(spelled, len(seen) + 1)
    return label


# --------------------------------------------------------------------------- verify

def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature, seed=None):
    """Verify a draft tree against ``target_model`` (a :class:`RetentionLM`).

    Parameters
    ----------
    prompt : sequence of int, not empty
    tree_tokens, tree_parents : sequences of int, equally long, possibly empty
    temperature : float, 0 means greedy
    seed : anything ``np.random.default_rng`` takes (a Generator is used as it is)

    Returns
    -------
    accepted : int64 array, the accepted draft tokens from the root downwards
    new_token : int, the target's own continuation of ``prompt + accepted``
    """
    prompt = np.asarray(prompt, dtype=np.int64).reshape(-1)
    tokens = np.asarray(tree_tokens, dtype=np.int64).reshape(-1)
    parents = np.asarray(tree_parents, dtype=np.intp).reshape(-1)
    if prompt.size == 0:
        raise ValueError("the prompt is empty: nothing to judge the roots by")
    if tokens.shape != parents.shape:
        raise ValueError("tree_tokens and tree_parents must have the same length")
    if temperature < 0:
        raise ValueError("negative temperature")

    p = prompt.size
    mask = build_tree_mask(p, parents)
    reach = mask[p:, p:]
    depth = reach.sum(axis=1)                                   # roots: 1
    positions = np.concatenate([np.arange(p), p - 1 + depth])
    logits = retention_logits(target_model, np.concatenate([prompt, tokens]), positions, mask)
    logits = logits[p - 1:]                                     # row i+1 <-> node i

    label = _path_ids(tokens, parents, depth)
    if temperature > 0:
        noise = np.random.default_rng(seed).gumbel(size=(label.max() + 1, logits.shape[1]))
        choice = (logits / temperature + noise[label]).argmax(axis=1)
    else:
        choice = logits.argmax(axis=1)
    first_row = np.unique(label, return_index=True)[1]          # copies agree exactly
    choice = choice[first_row[label]]

    wrong = choice[parents + 1] != tokens
    survives = ~(reach & wrong[None, :]).any(axis=1)
    if not survives.any():
        return np.empty(0, dtype=np.int64), int(choice[0])

    tip = int(np.where(survives, depth, 0).argmax())
    path = np.flatnonzero(reach[tip])
    path = path[np.argsort(depth[path])]
    return tokens[path], int(choice[tip + 1])
