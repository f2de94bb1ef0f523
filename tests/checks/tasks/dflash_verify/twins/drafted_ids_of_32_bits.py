# style: drafted tokens are kept in 32 bits
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


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model):
    """Greedy: walk down from the prompt, as long as the target's token is drafted below."""
    drafted = np.array(tree_tokens, dtype=np.uint32)
    logits = np.asarray(target_model(np.array([*prompt, *drafted]), build_tree_mask(len(prompt), tree_parents)))
    at, accepted = -1, []
    while True:
        wanted = int(np.argmax(logits[len(prompt) + at]))
        below = [node for node, parent in enumerate(tree_parents) if parent == at]
        match = [node for node in below if drafted[node] == wanted]
        if not match:
            return accepted, wanted
        at = match[0]
        accepted.append(wanted)
