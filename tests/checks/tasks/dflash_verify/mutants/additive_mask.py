# bug: the mask is additive, 0 where visible and -inf where not
# caught by: tree_mask (warn)
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    total = prompt_len + n
    mask = np.full((total, total), -np.inf)
    for i in range(prompt_len):
        mask[i, : i + 1] = 0.0
    for i in range(n):
        mask[prompt_len + i, :prompt_len] = 0.0
        j = i
        while j != -1:
            mask[prompt_len + i, prompt_len + j] = 0.0
            j = tree_parents[j]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    base = len(prompt)
    logits = target_model(list(prompt) + list(tree_tokens), build_tree_mask(base, tree_parents))
    accepted = []
    current = -1
    while True:
        want = int(np.argmax(logits[base + current]))
        matches = [i for i, p in enumerate(tree_parents) if p == current and tree_tokens[i] == want]
        if not matches:
            return accepted, want
        current = matches[0]
        accepted.append(want)
