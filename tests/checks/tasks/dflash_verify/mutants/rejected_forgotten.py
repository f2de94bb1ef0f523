# bug: the flag of a rejected node is looked up at the wrong place, so its subtree stays alive
# caught by: subtree_invalidation
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    total = prompt_len + len(tree_parents)
    rows = []
    for q in range(total):
        if q < prompt_len:
            rows.append([k <= q for k in range(total)])
        else:
            line, node = set(range(prompt_len)), q - prompt_len
            while node >= 0:
                line.add(prompt_len + node)
                node = tree_parents[node]
            rows.append([k in line for k in range(total)])
    return np.array(rows, dtype=bool)


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    P, N = len(prompt), len(tree_tokens)
    logits = target_model(np.array(list(prompt) + list(tree_tokens)), build_tree_mask(P, tree_parents))
    status = np.zeros(P + N, dtype=int)  # 1 accepted, -1 rejected
    paths = {-1: []}
    for i in range(N):
        parent = tree_parents[i]
        if parent >= 0 and status[parent] == -1:
            status[P + i] = -1
            continue
        if int(logits[P + parent].argmax()) == tree_tokens[i]:
            status[P + i] = 1
            paths[i] = paths.get(parent, []) + [i]
        else:
            status[P + i] = -1
    best = max(paths, key=lambda k: len(paths[k]))
    return [int(tree_tokens[i]) for i in paths[best]], int(logits[P + best].argmax())
