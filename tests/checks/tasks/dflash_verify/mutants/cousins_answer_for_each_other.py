# bug: a node is answered for by the first one of its depth and token, though that hangs below another parent
# caught by: golden, subtree_invalidation
# passes: tree_mask
"""Verification level by level: on each level, equal tokens are looked up in a table of that level."""
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    nodes = len(tree_parents)
    mask = np.tri(prompt_len + nodes, dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(nodes, dtype=bool)
    for node, parent in enumerate(tree_parents):
        above = parent
        while above >= 0:
            mask[prompt_len + node, prompt_len + above] = True
            above = tree_parents[above]
    return mask


def _depths(parents):
    depths = []
    for parent in parents:
        depths.append(0 if parent < 0 else depths[parent] + 1)
    return depths


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """Indices of the accepted nodes, and the token behind them."""
    prompt, tokens = list(prompt), list(tree_tokens)
    logits = np.asarray(target_model(np.array(prompt + tokens), build_tree_mask(len(prompt), tree_parents)))
    depths = _depths(tree_parents)
    first = {}
    for node, token in enumerate(tokens):
        first.setdefault((depths[node], token), node)
    rows = {-1: len(prompt) - 1} | {node: len(prompt) + node for node in range(len(tokens))}
    level, accepted, token = [-1], [], int(np.argmax(logits[len(prompt) - 1]))
    while True:
        level = [node for node, parent in enumerate(tree_parents) if parent in level and tokens[node] == token]
        if not level:
            return accepted, token
        accepted.append(first[depths[level[0]], token])
        token = int(np.argmax(logits[rows[level[0]]]))
