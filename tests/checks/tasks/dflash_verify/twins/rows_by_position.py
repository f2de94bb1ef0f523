# right: the target takes tokens, mask and the rows that are wanted, of which there are as many as tokens where the prompt has one
"""DFlash-style tree verification for speculative decoding.

One target forward pass scores every node of a draft tree.  This file holds

    build_tree_mask(prompt_len, tree_parents)          the (P+N, P+N) mask
    verify_and_accept(target_model, prompt, ...)       the accept / reject walk
    speculative_generate(target_model, prompt, ...)    a loop around both
    AlibiTarget                                        a small target model

Conventions
-----------
* ``tree_parents[i] == -1`` marks a root; roots are judged by the last prompt token.
* The target model is asked for *log-probabilities* of some rows only::

      target_model.log_probs(ids, mask, rows) -> (len(rows), V)

  It derives the position of a slot from the mask: a slot that can see ``c``
  slots (itself included) is the ``c``-th token of its own sequence.  Hence no
  position ids need to be passed around, and siblings agree automatically.
"""
from collections import defaultdict

import numpy as np


# --------------------------------------------------------------------------- mask
def _topological(tree_parents):
    """Node indices with every parent ahead of its children."""
    kids = defaultdict(list)
    for node, par in enumerate(tree_parents):
        if not -1 <= par < len(tree_parents):
            raise ValueError(f"node {node}: parent {par} does not exist")
        kids[par].append(node)
    order, queue = [], list(kids[-1])
    while queue:
        node = queue.pop(0)
        order.append(node)
        queue.extend(kids[node])
    if len(order) != len(tree_parents):
        raise ValueError("tree_parents is not a forest (there is a cycle)")
    return order


def build_tree_mask(prompt_len, tree_parents):
    """(P+N, P+N) bool array; ``mask[q, k]`` says whether q may attend to k."""
    tree_parents = [int(p) for p in tree_parents]
    total = prompt_len + len(tree_parents)
    mask = np.zeros((total, total), dtype=bool)
    mask[:, :prompt_len] = np.arange(total)[:, None] >= np.arange(prompt_len)[None, :]
    for node in _topological(tree_parents):
        slot, par = prompt_len + node, tree_parents[node]
        if par >= 0:
            mask[slot] = mask[prompt_len + par]     # all that the parent sees, parent included
        mask[slot, slot] = True
    return mask


# ------------------------------------------------------------------- verification
def _draw(log_p, temperature, rng):
    """One token from a row of log-probabilities."""
    if temperature == 0.0:
        return int(np.argmax(log_p))
    z = log_p / temperature
    prob = np.exp(z - z.max())
    cdf = np.cumsum(prob)
    u = rng.random() * cdf[-1]
    return int(min(np.searchsorted(cdf, u, side="right"), log_p.size - 1))


def verify_and_accept(target_model, prompt, tree_tokens, tree_parents, temperature=0.0, seed=None):
    """Judge a draft tree with the target model.

    Walk down from the prompt.  At every stop the target picks its own token
    (argmax, or a sample for ``temperature > 0``); if the draft offers that token
    among the children, step there, otherwise stop.  Because the pick never
    depends on the draft, the text is distributed exactly as the target's.

    Returns
    -------
    dict with
        ``accepted``   list of accepted token ids, in order
        ``new_token``  the target's token after them (always present)
        ``nodes``      indices of the accepted tree nodes, e.g. to gather KV rows
    """
    prompt = [int(t) for t in prompt]
    tree_tokens = [int(t) for t in tree_tokens]
    tree_parents = [int(p) for p in tree_parents]
    if not prompt:
        raise ValueError("empty prompt")
    if len(tree_tokens) != len(tree_parents):
        raise ValueError("one parent per tree token, please")
    if temperature < 0:
        raise ValueError("temperature must not be negative")
    rng = np.random.default_rng(seed)

    p, n = len(prompt), len(tree_tokens)
    # Row k of `rows` answers for node k - 1; k = 0 is the last prompt token.
    rows = np.arange(p - 1, p + n)
    table = target_model.log_probs(np.array(prompt + tree_tokens), build_tree_mask(p, tree_parents), rows)

    # offers[parent][token] -> nodes.  A careless draft may list a token twice
    # under one parent; both then stand for the same text and are followed together.
    offers = defaultdict(lambda: defaultdict(list))
    for node, (tok, par) in enumerate(zip(tree_tokens, tree_parents)):
        offers[par][tok].append(node)

    accepted, levels, here = [], [], [-1]
    while True:
        pick = _draw(table[here[0] + 1], temperature, rng)
        below = [node for par in here for node in offers[par][pick]]
        if not below:
            break
        accepted.append(pick)
        levels.append(below)
        here = below

    nodes = []
    if levels:                       # climb back from one deepest node: a true path
        node = levels[-1][0]
        while node != -1:
            nodes.append(node)
            node = tree_parents[node]
        nodes.reverse()
    return {"accepted": accepted, "new_token": pick, "nodes": nodes}


def speculative_generate(target_model, prompt, draft_tree, max_new_tokens, temperature=0.0, seed=0):
    """Generate with ``draft_tree(sequence) -> (tree_tokens, tree_parents)``."""
    seq = [int(t) for t in prompt]
    stop = len(seq) + max_new_tokens
    turn = 0
    while len(seq) < stop:
        tokens, parents = draft_tree(seq)
        res = verify_and_accept(target_model, seq, tokens, parents, temperature, seed=(seed, turn))
        seq += res["accepted"] + [res["new_token"]]
        turn += 1
    return seq[len(prompt):stop]


# --------------------------------------------------------------------- the target
class AlibiTarget:
    """Attention with linear distance biases, two layers, random weights."""

    def __init__(self, vocab=24, width=24, n_heads=3, depth=2, seed=0):
        g = np.random.default_rng(seed)
        self.vocab, self.n_heads, self.hd = vocab, n_heads, width // n_heads
        scale = 1.0 / np.sqrt(width)
        self.tok = g.normal(size=(vocab, width))
        self.q = g.normal(size=(depth, n_heads, width, self.hd)) * scale
        self.k = g.normal(size=(depth, n_heads, width, self.hd)) * scale
        self.v = g.normal(size=(depth, n_heads, width, self.hd)) * scale
        self.o = g.normal(size=(depth, n_heads, self.hd, width)) * scale * 2
        self.m1 = g.normal(size=(depth, width, 3 * width)) * scale
        self.m2 = g.normal(size=(depth, 3 * width, width)) * scale
        self.head = g.normal(size=(width, vocab)) * scale * 3
        self.slope = 2.0 ** -np.arange(1, n_heads + 1)

    @staticmethod
    def _norm(x):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)

    def log_probs(self, ids, mask, rows):
        pos = mask.sum(axis=1) - 1
        far = pos[:, None] - pos[None, :]
        bias = np.where(mask[None], -self.slope[:, None, None] * far, -np.inf)
        x = self.tok[ids]
        for l in range(len(self.q)):
            h = self._norm(x)
            q, k, v = (np.einsum("sd,hde->hse", h, w[l]) for w in (self.q, self.k, self.v))
            a = np.einsum("hqe,hke->hqk", q, k) / np.sqrt(self.hd) + bias
            a = np.exp(a - a.max(-1, keepdims=True))
            a /= a.sum(-1, keepdims=True)
            x = x + np.einsum("hqk,hke,hed->qd", a, v, self.o[l], optimize=True)
            x = x + np.tanh(self._norm(x) @ self.m1[l]) @ self.m2[l]
        z = self._norm(x[rows]) @ self.head
        z = z - z.max(-1, keepdims=True)
        return z - np.log(np.exp(z).sum(-1, keepdims=True))

    def next_log_probs(self, ids):
        """Log-probabilities after a plain sequence (for ordinary decoding)."""
        ids = np.asarray(ids)
        return self.log_probs(ids, np.tri(ids.size, dtype=bool), [ids.size - 1])[0]
