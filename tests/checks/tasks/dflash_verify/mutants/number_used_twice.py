# bug: the random number that refused the siblings also draws the token after them
# caught by: distribution
# passes: golden, tree_mask
"""Verification of a drafted token tree against a target model."""

import numpy as np

_rng = np.random.default_rng()


class TinyTarget:
    """Minimal causal target: one attention layer, weights from a seed."""

    def __init__(self, vocab=17, width=12, seed=3):
        r = np.random.default_rng(seed)
        self.emb = r.normal(size=(vocab, width))
        self.out = r.normal(size=(width, vocab))

    def forward(self, ids, mask):
        h = self.emb[np.asarray(ids)]
        s = h @ h.T / np.sqrt(h.shape[1])
        s = np.where(mask, s, -np.inf)
        a = np.exp(s - s.max(1, keepdims=True))
        a /= a.sum(1, keepdims=True)
        return (h + a @ h) @ self.out


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tril(np.ones((prompt_len, prompt_len), dtype=bool))
    for i in range(n):
        row = prompt_len + i
        mask[row, :prompt_len] = True
        j = i
        while j >= 0:
            mask[row, prompt_len + j] = True
            j = tree_parents[j]
    return mask


def _probs(logits, temperature):
    z = np.asarray(logits, dtype=np.float64) / temperature
    z = np.exp(z - z.max())
    return z / z.sum()


def _draw(weights, coin):
    c = np.cumsum(weights)
    return int(min(np.searchsorted(c, coin * c[-1], side="right"), len(weights) - 1))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature):
    """Returns (accepted tokens, the token that follows them)."""
    prompt = list(prompt)
    mask = build_tree_mask(len(prompt), tree_parents)
    logits = target_model.forward(prompt + list(tree_tokens), mask)
    children = {}
    for i, p in enumerate(tree_parents):
        children.setdefault(p, []).append(i)

    accepted = []
    node = -1
    while True:
        row = len(prompt) - 1 if node < 0 else len(prompt) + node
        kids = children.get(node, [])
        if temperature == 0:
            best = int(np.argmax(logits[row]))
            hit = next((k for k in kids if tree_tokens[k] == best), None)
            if hit is None:
                return accepted, best
            accepted.append(best)
            node = hit
            continue
        p = _probs(logits[row], temperature)
        coin = _rng.random()
        reached, tried, hit = 0.0, set(), None
        for k in kids:
            tok = tree_tokens[k]
            if tok in tried:
                continue
            tried.add(tok)
            reached += p[tok]
            if coin < reached:
                hit = k
                break
        if hit is not None:
            accepted.append(int(tree_tokens[hit]))
            node = hit
            continue
        rest = p.copy()
        rest[list(tried)] = 0.0
        if rest.sum() <= 0:
            rest = p
        return accepted, _draw(rest, coin)
