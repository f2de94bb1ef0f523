# bug: nodes see only the last token of the prompt
# caught by: tree_mask, parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len: int, tree_parents) -> np.ndarray:
    size = prompt_len + len(tree_parents)
    parent = list(range(-1, prompt_len - 1)) + [prompt_len - 1 if p < 0 else prompt_len + p for p in tree_parents]
    mask = np.eye(size, dtype=bool)
    for i in range(prompt_len):
        mask[i, : i + 1] = True
    for i in range(prompt_len, size):
        j = parent[i]
        while j >= prompt_len:
            mask[i, j] = True
            j = parent[j]
        mask[i, prompt_len - 1] = True
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = np.asarray(target_model(list(prompt) + list(tree_tokens), build_tree_mask(P, tree_parents)))
    accepted, at = [], -1
    while True:
        t = int(logits[P + at].argmax())
        kids = [i for i, p in enumerate(tree_parents) if p == at and tree_tokens[i] == t]
        if not kids:
            return accepted, t
        at = kids[0]
        accepted.append(t)
