# bug: logits are divided by the temperature and exponentiated as they are: near 0 every weight is 0
# caught by: golden
# passes: parent_logits, distribution
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    whole = np.arange(prompt_len + len(tree_parents))
    mask = (whole <= whole[:, None]) & (whole < prompt_len)
    for node, parent in enumerate(tree_parents):
        if parent >= 0:
            mask[prompt_len + node] |= mask[prompt_len + parent]
        mask[prompt_len + node, prompt_len + node] = True
    return mask


def sampled(logits, temperature):
    if temperature == 0:
        return int(np.argmax(logits))
    weights = np.exp(logits / temperature)
    return int(np.random.choice(len(weights), p=weights / weights.sum()))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """Draw by the target at each node; as long as a child is what was drawn, go on there."""
    rows = np.asarray(
        target_model(np.array([*prompt, *tree_tokens]), build_tree_mask(len(prompt), tree_parents))
    )
    at, path = -1, []
    while True:
        drawn = sampled(rows[len(prompt) + at], temperature)
        below = [n for n, parent in enumerate(tree_parents) if parent == at and tree_tokens[n] == drawn]
        if not below:
            return [int(tree_tokens[n]) for n in path], drawn
        at = below[0]
        path.append(at)
