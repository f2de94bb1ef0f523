# bug: the target is asked about the drafted children alone, so that one of them is always accepted
# caught by: parent_logits, golden
# passes: tree_mask
# only: parent_logits, golden, tree_mask
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    """(P + N, P + N), true where a position is seen."""
    size = len(tree_parents)
    mask = np.zeros((prompt_len + size,) * 2, dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len, dtype=bool)
    mask[prompt_len:, :prompt_len] = True

    reach = np.zeros((size + 1, size), dtype=bool)
    reach[:size] = np.eye(size, dtype=bool)
    jump = np.append(np.asarray(tree_parents, dtype=int), -1)
    for _ in range(size.bit_length() + 1):
        reach = reach | reach[jump]
        jump = jump[jump]
    mask[prompt_len:, prompt_len:] = reach[:size]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, rng=None):
    """Accepted tokens, and the token that the target gives after them."""
    rng = rng or np.random.default_rng()
    size = len(prompt)
    ids = np.array([*prompt, *tree_tokens], dtype=np.int64)
    logits = np.asarray(target_model(ids, build_tree_mask(size, tree_parents)), dtype=np.float64)
    accepted, at = [], -1
    while True:
        row = logits[size - 1 if at < 0 else size + at]
        children = [i for i, parent in enumerate(tree_parents) if parent == at]
        if temperature <= 0:
            token = int(row.argmax())
            if children:
                token = max((int(tree_tokens[i]) for i in children), key=lambda t: row[t])
            taken = next((i for i in children if tree_tokens[i] == token), None)
        else:
            shares = np.exp((row - row.max()) / temperature)
            token = int(rng.choice(len(shares), p=shares / shares.sum()))
            taken = next((i for i in children if tree_tokens[i] == token), None)
        if taken is None:
            return accepted, token
        accepted.append(int(tree_tokens[taken]))
        at = taken
