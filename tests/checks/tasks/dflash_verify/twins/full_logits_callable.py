# right: the model is a callable of a list that gives all positions
# warns: distribution
import numpy as np

def build_tree_mask(prompt_len, tree_parents):
    P, N = prompt_len, len(tree_parents)
    M = np.tril(np.ones((P+N, P+N), dtype=bool))
    for i in range(N):
        anc = set(); j = i
        while j != -1:
            anc.add(j); j = tree_parents[j]
        for k in range(N):
            M[P+i, P+k] = k in anc
    return M

def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """target_model: list[int] -> (len, V) logits (plain causal)."""
    def greedy(seq):
        return int(np.argmax(target_model(seq)[-1]))
    status = {}
    best = []
    for i in range(len(tree_tokens)):
        path = []
        j = i
        while j != -1:
            path.insert(0, j); j = tree_parents[j]
        ok = True
        for depth, n in enumerate(path):
            if n in status:
                if not status[n]: ok = False; break
                continue
            prefix = list(prompt) + [tree_tokens[m] for m in path[:depth]]
            status[n] = greedy(prefix) == tree_tokens[n]
            if not status[n]: ok = False; break
        status.setdefault(i, ok)
        if ok and len(path) > len(best): best = path
    accepted = [tree_tokens[m] for m in best]
    return accepted, greedy(list(prompt) + accepted)
