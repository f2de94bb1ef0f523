# bug: a root that is the only one is accepted without being asked about
# caught by: golden, subtree_invalidation
# passes: parent_logits
# only: golden, subtree_invalidation, parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    """True where a row may look."""
    n = len(tree_parents)
    mask = np.tril(np.ones((prompt_len + n, prompt_len + n), dtype=bool))
    mask[prompt_len:, prompt_len:] = False
    for node in range(n):
        above = node
        while above != -1:
            mask[prompt_len + node, prompt_len + above] = True
            above = tree_parents[above]
    return mask


def top_token(row):
    """The likeliest token."""
    return int(np.argmax(row))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """Greedy walk from the last token of the prompt down the draft tree."""
    if temperature > 0:
        raise NotImplementedError("greedy verification alone")
    start = len(prompt)
    ids = np.concatenate([prompt, tree_tokens]).astype(int)
    logits = np.asarray(target_model(ids, build_tree_mask(start, tree_parents)))
    children = {}
    for node, parent in enumerate(tree_parents):
        children.setdefault(parent, []).append(node)
    accepted, here = [], -1
    while True:
        row = logits[start - 1] if here == -1 else logits[start + here]
        family = children.get(here, [])
        lone = family if here == -1 and len(family) == 1 else []
        hit = next((c for c in lone), None)
        hit = hit if lone else next((c for c in family if tree_tokens[c] == top_token(row)), None)
        if hit is None:
            return accepted, top_token(row)
        accepted.append(int(tree_tokens[hit]))
        here = hit
