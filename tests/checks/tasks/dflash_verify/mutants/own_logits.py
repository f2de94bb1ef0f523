# bug: a node is judged by the logits at itself
# caught by: parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    m = np.zeros((prompt_len + n,) * 2, dtype=bool)
    for i in range(prompt_len):
        m[i, : i + 1] = True
    for i in range(n):
        m[prompt_len + i] = m[prompt_len + tree_parents[i]] if tree_parents[i] >= 0 else m[prompt_len - 1]
        m[prompt_len + i, prompt_len + i] = True
    return m


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    valid = [True] * len(tree_tokens)
    accepted, last, replacement = [], -1, None
    for i, token in enumerate(tree_tokens):
        parent = tree_parents[i]
        if parent >= 0 and not valid[parent]:
            valid[i] = False
            continue
        if parent != last:
            valid[i] = False
            continue
        predicted = int(np.argmax(logits[P + i]))
        if predicted == token:
            accepted.append(token)
            last = i
        else:
            valid[i] = False
    new = int(np.argmax(logits[P + last]))
    return accepted, new
