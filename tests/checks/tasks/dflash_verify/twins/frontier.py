# style: pure Python; a frontier of nodes with one prefix, ancestors as bits of whole numbers
"""Tree-structured speculative decoding: mask, verification, and a toy target.

Design: the mask is built from bit sets (Python ints); the verification is a *walk from the root*, so a subtree
below a rejected node is never visited at all.
"""
import math
import random


class TargetModel:
    """Hash-based deterministic toy model, pure Python. forward() returns one row of logits per position."""

    def __init__(self, vocab_size=17, seed=0):
        self.vocab_size = vocab_size
        self.seed = seed

    def _row(self, context):
        r = random.Random(repr((self.seed, context)))
        return [r.gauss(0, 1) for _ in range(self.vocab_size)]

    def forward(self, tokens, attention_mask=None):
        rows = []
        for i in range(len(tokens)):
            if attention_mask is None:
                seen = tokens[: i + 1]
            else:
                seen = [t for t, ok in zip(tokens, attention_mask[i]) if ok]
            rows.append(self._row(tuple(int(t) for t in seen)))
        return rows


def _ancestor_bits(tree_parents):
    bits = []
    for i, p in enumerate(tree_parents):
        bits.append((1 << i) | (bits[p] if p >= 0 else 0))
    return bits


def build_tree_mask(prompt_len, tree_parents):
    """list[list[bool]] of size (P+N) x (P+N)"""
    n = len(tree_parents)
    rows = [[j <= i for j in range(prompt_len)] + [False] * n for i in range(prompt_len)]
    for b in _ancestor_bits(tree_parents):
        rows.append([True] * prompt_len + [bool(b >> j & 1) for j in range(n)])
    return rows


def _argmax(row):
    best = 0
    for i, v in enumerate(row):
        if v > row[best]:
            best = i
    return best


def _sample(row, temperature, rng):
    m = max(row)
    w = [math.exp((v - m) / temperature) for v in row]
    return rng.choices(range(len(row)), weights=w)[0]


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, seed=None):
    """Returns (accepted tokens, new token)."""
    p = len(prompt)
    logits = target_model.forward(list(prompt) + list(tree_tokens), build_tree_mask(p, tree_parents))
    rng = random.Random(seed)
    kids = {}
    for i, par in enumerate(tree_parents):
        kids.setdefault(par, []).append(i)
    accepted = []
    frontier, row = [-1], p - 1      # all nodes that carry the accepted prefix (duplicates share a prefix)
    while True:
        # the target's own choice; drawing first and then looking for a child with it is lossless at any temperature
        choice = _argmax(logits[row]) if temperature == 0 else _sample(logits[row], temperature, rng)
        nxt = [c for f in frontier for c in kids.get(f, ()) if tree_tokens[c] == choice]
        if not nxt:
            return accepted, choice
        accepted.append(int(choice))
        frontier, row = nxt, p + nxt[0]


def generate(prompt, drafter, target_model, max_new):
    out = list(prompt)
    while len(out) - len(prompt) < max_new:
        toks, pars = drafter(out)
        acc, new = verify_and_accept(out, toks, pars, target_model, 0.0)
        out += acc + [new]
    return out[: len(prompt) + max_new]


if __name__ == "__main__":
    rng = random.Random(1)
    model = TargetModel(5)

    def drafter(seq):
        n = rng.randint(1, 9)
        return [rng.randrange(5) for _ in range(n)], [rng.randint(-1, i - 1) for i in range(n)]

    greedy = [1, 2]
    for _ in range(30):
        greedy.append(_argmax(model.forward(greedy)[-1]))
    assert generate([1, 2], drafter, model, 30) == greedy
    print("speculative == greedy:", greedy)
