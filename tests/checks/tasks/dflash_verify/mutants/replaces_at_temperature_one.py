# bug: refused children are taken out of the softmax without the temperature; it is there everywhere else
# caught by: distribution
# passes: parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = prompt_len + len(tree_parents)
    mask = np.tril(np.ones((n, n), dtype=bool))
    mask[prompt_len:, prompt_len:] = np.eye(len(tree_parents), dtype=bool)
    for node, parent in enumerate(tree_parents):
        while parent >= 0:
            mask[prompt_len + node, prompt_len + parent] = True
            parent = tree_parents[parent]
    return mask


def softmax(logits, temperature=1.0):
    weights = np.exp((logits - np.max(logits)) / temperature)
    return weights / weights.sum()


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    ids = np.array([*prompt, *tree_tokens])
    logits = np.asarray(target_model(ids, build_tree_mask(len(prompt), tree_parents)))
    at, accepted = -1, []
    while True:
        row = logits[len(prompt) + at]
        children = [node for node, parent in enumerate(tree_parents) if parent == at]
        if temperature == 0:
            best = int(np.argmax(row))
            at = next((node for node in children if tree_tokens[node] == best), None)
            if at is None:
                return accepted, best
            accepted.append(best)
            continue
        p, taken, new = softmax(row, temperature), None, None
        for node in children:
            if np.random.random() < p[tree_tokens[node]]:
                taken = node
                break
            p[tree_tokens[node]] = 0.0
            p = p / p.sum() if p.sum() > 0 else p
        if taken is None:
            left = softmax(row) if children else p
            left[[tree_tokens[node] for node in children]] = 0.0
            new = int(np.random.choice(len(left), p=left / left.sum()))
        if taken is None:
            return accepted, new
        at = taken
        accepted.append(int(tree_tokens[taken]))
