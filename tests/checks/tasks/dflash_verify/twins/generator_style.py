# right: states, a tree class and lambdas
# warns: distribution
"""Verification as a small state machine."""
import enum
import numpy as np

class State(enum.Enum):
    PENDING = 0
    ACCEPTED = 1
    REJECTED = 2

class DraftTree:
    def __init__(self, tokens, parents):
        self.tokens, self.parents = list(tokens), [None if p is None or p < 0 else p for p in parents]
    def __len__(self): return len(self.tokens)
    def ancestors(self, i):
        while i is not None:
            yield i
            i = self.parents[i]
    def children(self, i):
        return (k for k, p in enumerate(self.parents) if p == i)

def build_tree_mask(prompt_len, tree_parents):
    tree = DraftTree([0] * len(tree_parents), tree_parents)
    total = prompt_len + len(tree)
    allowed = lambda r, c: c <= r if r < prompt_len else (c < prompt_len or (c - prompt_len) in set(tree.ancestors(r - prompt_len)))
    return np.fromfunction(np.vectorize(lambda r, c: allowed(int(r), int(c)), otypes=[bool]), (total, total))

def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, *, vocab_size=None):
    tree = DraftTree(tree_tokens, tree_parents)
    P = len(prompt)
    out = target_model.get_logits(tokens=list(prompt) + tree.tokens, mask=build_tree_mask(P, tree_parents))
    choice = lambda i: int(np.argmax(out[P - 1 if i is None else P + i]))
    states = [State.PENDING] * len(tree)
    node, path = None, []
    while True:
        want = choice(node)
        nxt = None
        for k in tree.children(node):
            if tree.tokens[k] == want and nxt is None:
                states[k] = State.ACCEPTED; nxt = k
            else:
                states[k] = State.REJECTED
        if nxt is None:
            return tuple(tree.tokens[k] for k in path), want
        path.append(nxt); node = nxt
