# bug: the prompt is not causal
# caught by: tree_mask
def build_tree_mask(prompt_len, tree_parents):
    n = prompt_len + len(tree_parents)
    mask = [[False] * n for _ in range(n)]
    for i in range(prompt_len):
        for j in range(prompt_len):
            mask[i][j] = True
    for node in range(len(tree_parents)):
        row = mask[prompt_len + node]
        for j in range(prompt_len):
            row[j] = True
        walk = node
        while walk != -1:
            row[prompt_len + walk] = True
            walk = tree_parents[walk]
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    out, node = [], -1
    while True:
        logits = target_model(list(prompt) + out)
        best = max(range(len(logits)), key=lambda v: logits[v])
        for i in range(len(tree_tokens)):
            if tree_parents[i] == node and tree_tokens[i] == best:
                node = i
                out.append(best)
                break
        else:
            return out, best
