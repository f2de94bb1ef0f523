# bug: true means hidden
# warned by: tree_mask
import numpy as np


def ancestors(i, parents):
    out = []
    while i >= 0:
        out.append(i)
        i = parents[i]
    return out


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    blocked = np.triu(np.ones((prompt_len + n, prompt_len + n), dtype=bool), k=1)
    blocked[prompt_len:, prompt_len:] = True
    for i in range(n):
        for a in ancestors(i, tree_parents):
            blocked[prompt_len + i, prompt_len + a] = False
    return blocked


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """True in the mask means 'must not attend'."""
    P = len(prompt)
    logits = target_model(np.array([*prompt, *tree_tokens]), mask=~build_tree_mask(P, tree_parents))
    greedy = logits.argmax(-1)
    ok, out, last = set(), [], -1
    for i, tok in enumerate(tree_tokens):
        parent = tree_parents[i]
        if parent == last and greedy[P + parent] == tok:
            ok.add(i)
            out.append(i)
            last = i
    # siblings that stand before their right sibling's parent was reached are looked at again
    changed = True
    while changed:
        changed = False
        for i, tok in enumerate(tree_tokens):
            if i not in ok and tree_parents[i] == last and greedy[P + last] == tok:
                ok.add(i)
                out.append(i)
                last = i
                changed = True
    return out, greedy[P + last]
