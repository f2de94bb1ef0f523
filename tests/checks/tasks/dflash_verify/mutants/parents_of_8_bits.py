# bug: parents are kept as int8: a node past 127 has another one
# caught by: parent_logits
# passes: tree_mask
# only: parent_logits, tree_mask
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


def probabilities(logits, temperature):
    if temperature == 0:
        return (np.arange(len(logits)) == np.argmax(logits)).astype(float)
    weights = np.exp((logits - np.max(logits)) / temperature)
    return weights / weights.sum()


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """Walk down from the prompt; at each node try the drafted children, then draw from what they leave."""
    ids = np.array([*prompt, *tree_tokens])
    tree_parents = np.array(tree_parents).astype(np.int8).tolist()
    logits = np.asarray(target_model(ids, build_tree_mask(len(prompt), tree_parents)))
    at, accepted = -1, []
    while True:
        row = logits[len(prompt) + at].copy()
        for child in (node for node, parent in enumerate(tree_parents) if parent == at):
            token = tree_tokens[child]
            if np.random.random() < probabilities(row, temperature)[token]:
                at = child
                accepted.append(int(token))
                break
            if np.isfinite(np.delete(row, token)).any():
                row[token] = -np.inf
        else:
            p = probabilities(row, temperature)
            return accepted, int(np.random.choice(len(p), p=p))
