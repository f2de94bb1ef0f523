# right: the new token stands behind the accepted ones as well; depth-first recursion; the model by name
import numpy as np


def build_tree_mask(*, prompt_len, tree_parents):
    n = len(tree_parents)
    kids = {}
    for child, parent in enumerate(tree_parents):
        kids.setdefault(parent, []).append(child)
    tree = np.zeros((n, n), dtype=bool)

    def walk(node, line):
        line = line + [node]
        tree[node, line] = True
        for child in kids.get(node, []):
            walk(child, line)

    for root in kids.get(-1, []):
        walk(root, [])
    mask = np.tri(prompt_len + n, dtype=bool)
    mask[prompt_len:, prompt_len:] = tree
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, *, target_model, temperature=0.0):
    """Returns (continuation, new_token): the continuation ends with new_token."""
    P = len(prompt)
    rows = np.asarray(target_model(np.array(list(prompt) + list(tree_tokens)), mask=build_tree_mask(prompt_len=P, tree_parents=tree_parents)))
    if temperature > 0:
        noise = np.random.default_rng().gumbel(size=rows.shape)
        rows = rows / temperature + noise
    best = rows.argmax(axis=1)
    out, node = [], -1
    while True:
        token = int(best[P + node])
        out.append(token)
        node = next((i for i, p in enumerate(tree_parents) if p == node and tree_tokens[i] == token), None)
        if node is None:
            return out, token
