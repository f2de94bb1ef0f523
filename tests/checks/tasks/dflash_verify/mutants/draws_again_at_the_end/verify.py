# bug: above temperature 0 the last node draws a second time, when its first draw is known to be no child of it
# caught by: distribution
# passes: golden, parent_logits
import numpy as np

from masks import build_tree_mask
from target import TargetModel


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model=None, temperature=0.0):
    """Returns (indices of accepted nodes in path order, next token)."""
    target_model = target_model or TargetModel()
    tree_tokens = np.asarray(tree_tokens, dtype=np.int64)
    tree_parents = np.asarray(tree_parents, dtype=np.int64)
    prompt = np.asarray(prompt, dtype=np.int64)
    base = prompt.size
    logits = target_model.logits(np.r_[prompt, tree_tokens], build_tree_mask(base, tree_parents))
    best = np.array([], dtype=np.int64)
    stack = [(-1, best)]
    while stack:
        node, path = stack.pop()
        if path.size > best.size:
            best = path
        want = draw(logits[base + node], temperature)
        for child in np.flatnonzero(tree_parents == node):
            if tree_tokens[child] == want:
                stack.append((child, np.append(path, child)))
    last = best[-1] if best.size else -1
    return best, draw(logits[base + last], temperature)


def draw(row, temperature):
    if temperature < 1e-8:
        return np.argmax(row)
    p = np.exp((row - row.max()) / temperature)
    return np.random.choice(row.size, p=p / p.sum())
