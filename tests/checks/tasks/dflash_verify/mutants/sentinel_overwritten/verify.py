"""Verification of a drafted token tree with one pass of the target model.

The target is any callable ``target_model(tokens, mask) -> (T, V)`` logits,
with row t predicting what follows token t.  All nodes are judged at once, each
by the row of its *parent*; a node survives if it is right and its parent
survived.  The deepest survivor names the accepted path.
"""
import numpy as np

from lanes import build_tree_mask, check_parents


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, rng=None):
    """Returns ``(accepted, new_token)``.

    accepted   int64 array of the accepted tokens in order, maybe empty
    new_token  int, the target's token after them (correction or bonus)

    At ``temperature > 0`` the target's token for each context is drawn once
    per distinct context, which keeps its distribution.
    """
    prompt = np.asarray(prompt, dtype=np.int64)
    tokens = np.asarray(tree_tokens, dtype=np.int64).ravel()
    parents = check_parents(tree_parents)
    if len(prompt) < 1 or len(tokens) != len(parents):
        raise ValueError("empty prompt, or tokens and parents of different length")

    p, n = len(prompt), len(tokens)
    mask = build_tree_mask(p, parents)
    logits = np.asarray(target_model(np.r_[prompt, tokens], mask))[p - 1:]   # row 0: end of prompt; row i+1: node i

    twin = _first_twin(tokens, parents)
    choice = _choose(logits, twin, temperature, rng)

    alive = np.zeros(n + 1, dtype=bool)
    alive[0] = True
    depth = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        up = parents[i] + 1
        alive[i + 1] = alive[up] and tokens[i] == choice[up]
        depth[i + 1] = depth[up] + 1

    tip = int(np.argmax(np.where(alive, depth, -1)))
    path = []
    walk = tip
    while walk:
        path.append(tokens[walk - 1])
        walk = parents[walk - 1] + 1
    return np.array(path[::-1], dtype=np.int64), int(choice[tip])


def _first_twin(tokens, parents):
    """Slot of the first node that spells the same text (slot 0: the prompt)."""
    seen, twin = {}, np.zeros(len(tokens) + 1, dtype=np.intp)
    for i, (tok, par) in enumerate(zip(tokens.tolist(), parents.tolist())):
        twin[i + 1] = seen.setdefault((int(twin[par + 1]), tok), i + 1)
    return twin


def _choose(logits, twin, temperature, rng):
    """The target's own token after every slot."""
    if temperature == 0:
        return logits.argmax(axis=1)
    rng = np.random.default_rng(0) if rng is None else rng
    gumbel = rng.gumbel(size=logits.shape)
    return (logits / temperature + gumbel).argmax(axis=1)[twin]


class BagOfContext:
    """Minimal target: attends evenly, but for a decay with the distance, to
    what the mask shows, and mixes through a tanh layer."""

    def __init__(self, vocab=9, width=16, seed=0):
        rng = np.random.default_rng(seed)
        self.table = rng.normal(size=(vocab, width))
        self.mix = rng.normal(size=(width, width)) / 2
        self.out = rng.normal(size=(width, vocab))

    def __call__(self, tokens, mask):
        place = mask.sum(axis=1)                        # 1-based position along the path
        gap = place[:, None] - place[None, :]
        weight = np.where(mask, 0.8 ** np.maximum(gap, 0), 0.0)
        context = weight @ self.table[np.asarray(tokens)]
        return np.tanh(context @ self.mix) @ self.out


def greedy_decode(model, prompt, steps):
    """Autoregressive reference."""
    seq = [int(t) for t in prompt]
    for _ in range(steps):
        seq.append(int(model(np.array(seq), np.tri(len(seq), dtype=bool))[-1].argmax()))
    return seq[len(prompt):]
