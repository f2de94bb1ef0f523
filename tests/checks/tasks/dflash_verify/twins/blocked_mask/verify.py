# right: true means blocked; one of duplicate siblings is followed
# warns: tree_mask
"""Verify a draft tree against the target model in a single forward pass."""

from typing import List, NamedTuple

import numpy as np

from target import AlibiTarget
from tree import build_tree_mask, node_depths


class Verification(NamedTuple):
    """Outcome of one verification round (unpacks as ``accepted, new_token``)."""

    accepted: List[int]
    new_token: int


def _probabilities(log_probs, temperature):
    scaled = log_probs / temperature
    scaled = np.exp(scaled - scaled.max())
    return scaled / scaled.sum()


def _greedy_step(log_probs, candidates, tree_tokens):
    """(child to descend into or None, the target's token)."""
    best = int(np.argmax(log_probs))
    for child in candidates:
        if tree_tokens[child] == best:
            return child, best
    return None, best


def _sampled_step(log_probs, candidates, tree_tokens, temperature, rng):
    """Sibling-by-sibling rejection sampling.

    The draft is treated as a point mass on each candidate, so a candidate with
    token t is accepted with the *remaining* target probability p(t).  On
    rejection t is removed from p and p is renormalised.  When all candidates
    are rejected the token is drawn from what remains.  Summed over outcomes this
    gives back exactly the target distribution.
    """
    p = _probabilities(log_probs, temperature)
    for child in candidates:
        token = tree_tokens[child]
        if rng.random() < p[token]:
            return child, token
        residual = p.copy()
        residual[token] = 0.0
        total = residual.sum()
        if total <= 0.0:  # the candidate holds all the mass: it cannot be refused
            return child, token
        p = residual / total
    return None, int(rng.choice(len(p), p=p))


def verify_and_accept(target_model, prompt, tree_tokens, tree_parents, temperature=0.0, *, seed=None):
    """Accept the part of the draft tree that the target agrees with.

    Args:
        target_model: object with ``log_probs(ids, blocked, positions) -> (L, V)``;
            ``blocked`` is True where attention is forbidden.
        prompt: non-empty sequence of token ids.
        tree_tokens, tree_parents: N draft tokens and the parent index of each
            (-1 = child of the last prompt token); parents precede children.
        temperature: 0 for greedy, otherwise the sampling temperature.
        seed: seed (or Generator) for temperature > 0.

    Returns:
        ``Verification(accepted, new_token)``: the accepted path from root down and
        the target's own token after it (always exactly one).
    """
    prompt = [int(t) for t in prompt]
    tree_tokens = [int(t) for t in tree_tokens]
    if not prompt:
        raise ValueError("an empty prompt leaves nothing to judge the roots by")
    if len(tree_tokens) != len(tree_parents):
        raise ValueError(f"{len(tree_tokens)} tokens but {len(tree_parents)} parents")
    if temperature < 0:
        raise ValueError("temperature must not be negative")

    base = len(prompt)
    positions = np.concatenate([np.arange(base), base + node_depths(tree_parents)])
    table = target_model.log_probs(prompt + tree_tokens, build_tree_mask(base, tree_parents), positions)

    # Row base-1 is the last prompt token; slot 0 below stands for "parent -1".
    children = [[] for _ in range(len(tree_tokens) + 1)]
    for node, parent in enumerate(tree_parents):
        children[int(parent) + 1].append(node)

    rng = np.random.default_rng(seed)
    accepted, node = [], -1
    while True:
        row = table[base - 1] if node < 0 else table[base + node]
        if temperature == 0:
            child, token = _greedy_step(row, children[node + 1], tree_tokens)
        else:
            child, token = _sampled_step(row, children[node + 1], tree_tokens, temperature, rng)
        if child is None:
            return Verification(accepted, token)
        accepted.append(token)
        node = child


def main():
    target = AlibiTarget(seed=11)
    sequence = [3, 14, 15, 9]
    greedy = list(sequence)
    for _ in range(6):
        greedy.append(int(np.argmax(target.next_token_log_probs(greedy))))
    truth = greedy[len(sequence):]
    # the right path to depth 3, interleaved with wrong siblings
    tokens = [(truth[0] + 1) % 40, truth[0], (truth[1] + 2) % 40, truth[1], truth[2], (truth[3] + 5) % 40]
    parents = [-1, -1, 1, 1, 3, 4]
    result = verify_and_accept(target, sequence, tokens, parents)
    print("accepted", result.accepted, "new", result.new_token, "greedy", truth)
    assert result.accepted + [result.new_token] == truth[:4]


if __name__ == "__main__":
    main()
