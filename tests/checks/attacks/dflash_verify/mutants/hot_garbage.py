# bug: above temperature 0 every token is as likely as any
# caught by: golden
"""Tree verification: one call of the target with a tree mask, then a walk down agreeing nodes."""
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    mask[prompt_len:, :prompt_len] = True
    for i, parent in enumerate(tree_parents):
        if parent >= 0:
            mask[prompt_len + i, prompt_len:] |= mask[prompt_len + parent, prompt_len:]
        mask[prompt_len + i, prompt_len + i] = True
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    p = len(prompt)
    ids = np.array([*prompt, *tree_tokens], dtype=np.int64)
    logits = np.asarray(target_model(ids, build_tree_mask(p, tree_parents)))
    best, stack = [], [(-1, [])]
    while stack:
        node, path = stack.pop()
        if len(path) > len(best):
            best = path
        wanted = pick(logits[p - 1 if node < 0 else p + node], temperature)
        for child in range(len(tree_tokens) - 1, -1, -1):
            if tree_parents[child] == node and tree_tokens[child] == wanted:
                stack.append((child, path + [child]))
    last = p + best[-1] if best else p - 1
    return [int(tree_tokens[i]) for i in best], pick(logits[last], temperature)


def pick(row, temperature):
    if temperature <= 0:
        return int(np.argmax(row))
    z = np.ones(len(row))
    return int(np.random.choice(len(z), p=z / z.sum()))
