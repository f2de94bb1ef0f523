# bug: roots are judged by the row of the first node, one past the last prompt token
# caught by: parent_logits, golden
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    mask = np.tril(np.ones((prompt_len + n, prompt_len + n), dtype=bool))
    for i in range(n):
        seen = set()
        j = i
        while j >= 0:
            seen.add(j)
            j = tree_parents[j]
        for j in range(n):
            mask[prompt_len + i, prompt_len + j] = j in seen
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P = len(prompt)
    tokens = np.array(list(prompt) + list(tree_tokens))
    logits = target_model(tokens, build_tree_mask(P, tree_parents))
    accepted, node = [], -1
    while True:
        row = P if node == -1 and len(tree_tokens) else P + node
        token = int(logits[row].argmax())
        child = [i for i in range(len(tree_tokens)) if tree_parents[i] == node and tree_tokens[i] == token]
        if not child:
            return accepted, int(logits[P + node].argmax())
        accepted.append(token)
        node = child[0]
