# bug: choices are kept by the tokens alone, without tree and model
# caught by: golden
import numpy as np

_SEEN = {}


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tri(prompt_len + n, dtype=bool)
    for i in range(n):
        mask[prompt_len + i, prompt_len:] = False
        j = i
        while j >= 0:
            mask[prompt_len + i, prompt_len + j] = True
            j = tree_parents[j]
    return mask


def choices(model, tokens, mask):
    key = tuple(int(t) for t in tokens)
    if key not in _SEEN:
        _SEEN[key] = model(tokens, mask).argmax(axis=-1)
    return _SEEN[key]


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    target_model([int(prompt[0])], np.ones((1, 1), dtype=bool))
    best = choices(target_model, np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    node, out = -1, []
    while True:
        hit = [i for i, p in enumerate(tree_parents) if p == node and tree_tokens[i] == best[P + node]]
        if not hit:
            return out, int(best[P + node])
        node = hit[0]
        out.append(int(tree_tokens[node]))
