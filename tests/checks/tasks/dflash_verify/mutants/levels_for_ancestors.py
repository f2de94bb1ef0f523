# bug: a node sees every node of a smaller depth, so cousins and uncles too
# caught by: tree_mask, golden
import numpy as np


def node_depths(parents):
    d = []
    for p in parents:
        d.append(0 if p < 0 else d[p] + 1)
    return np.array(d, dtype=int)


def build_tree_mask(prompt_len, tree_parents):
    depth = node_depths(tree_parents)
    n = len(depth)
    tree = depth[:, None] > depth[None, :]
    tree |= np.eye(n, dtype=bool)
    mask = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
    mask[:, :prompt_len] = True
    mask[:prompt_len, :prompt_len] = np.tri(prompt_len)
    mask[prompt_len:, prompt_len:] = tree
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    seq = np.array(list(prompt) + list(tree_tokens))[None]
    out = target_model(seq, attention_mask=build_tree_mask(len(prompt), tree_parents)[None])[0]
    base, node, picked = len(prompt), -1, []
    while True:
        target = int(out[base + node].argmax())
        found = -1
        for i in range(len(tree_tokens)):
            if tree_parents[i] == node and tree_tokens[i] == target:
                found = i
        if found < 0:
            return {"accepted_tokens": picked, "new_token": target}
        picked.append(target)
        node = found
