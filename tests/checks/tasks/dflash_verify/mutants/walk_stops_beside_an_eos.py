# bug: an EOS among the children ends the walk there, though another child is right
# warned by: golden
# passes: tree_mask, parent_logits, subtree_invalidation
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.tri(size, dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(len(tree_parents), dtype=bool)
    for node, parent in enumerate(tree_parents):
        if parent >= 0:
            mask[prompt_len + node, prompt_len:] |= mask[prompt_len + parent, prompt_len:]
    return mask


def choose(row, temperature):
    if temperature == 0:
        return int(np.argmax(row))
    weights = np.exp((row - row.max()) / temperature)
    return int(np.random.choice(len(row), p=weights / weights.sum()))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, eos_token_id=None):
    mask = build_tree_mask(len(prompt), tree_parents)
    logits = np.asarray(target_model(list(prompt) + list(tree_tokens), mask))[len(prompt) - 1 :]
    nodes, accepted, last = [-1], [], -1
    while True:
        token = choose(logits[nodes[0] + 1], temperature)
        nodes = [i for i, p in enumerate(tree_parents) if p in nodes and tree_tokens[i] == token]
        beside = [t for t, p in zip(tree_tokens, tree_parents, strict=True) if p == last]
        if eos_token_id in beside or not nodes:
            return accepted, token
        last = nodes[0]
        accepted.append(token)
