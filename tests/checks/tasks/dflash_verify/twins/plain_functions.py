# right: plain functions, the model called with tokens and a boolean mask
"""DFlash-style tree verification, NumPy only."""
import numpy as np


class TinyTarget:
    """Two-layer attention model over a small vocabulary; enough to try the verifier on."""

    def __init__(self, vocab_size=64, dim=16, seed=0):
        rng = np.random.default_rng(seed)
        self.vocab_size = vocab_size
        self.emb = rng.normal(size=(vocab_size, dim))
        self.wq, self.wk, self.wv = (rng.normal(size=(dim, dim)) / np.sqrt(dim) for _ in range(3))
        self.out = rng.normal(size=(dim, vocab_size))

    def __call__(self, tokens, mask):
        x = self.emb[np.asarray(tokens)]
        scores = (x @ self.wq) @ (x @ self.wk).T / np.sqrt(x.shape[1])
        scores = np.where(mask, scores, -np.inf)
        w = np.exp(scores - scores.max(-1, keepdims=True))
        w /= w.sum(-1, keepdims=True)
        return (x + w @ (x @ self.wv)) @ self.out


def build_tree_mask(prompt_len, tree_parents):
    """(P+N, P+N) boolean, True where row may attend to column."""
    n = len(tree_parents)
    total = prompt_len + n
    mask = np.zeros((total, total), dtype=bool)
    mask[:prompt_len, :prompt_len] = np.tril(np.ones((prompt_len, prompt_len), dtype=bool))
    for i in range(n):
        row = prompt_len + i
        mask[row, :prompt_len] = True
        node = i
        while node >= 0:
            mask[row, prompt_len + node] = True
            node = tree_parents[node]
    return mask


def _pick(logits, temperature):
    if temperature == 0:
        return int(np.argmax(logits))
    z = logits / temperature
    p = np.exp(z - z.max())
    return int(np.random.choice(len(p), p=p / p.sum()))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    """One target pass over prompt and tree; walk down from the root along the target's choices."""
    P = len(prompt)
    tokens = np.array(list(prompt) + list(tree_tokens), dtype=np.int64)
    logits = target_model(tokens, build_tree_mask(P, tree_parents))
    children = {}
    for i, parent in enumerate(tree_parents):
        children.setdefault(parent, []).append(i)
    accepted, node = [], -1
    while True:
        row = P - 1 if node == -1 else P + node
        wanted = _pick(logits[row], temperature)
        match = next((c for c in children.get(node, []) if tree_tokens[c] == wanted), None)
        if match is None:
            return accepted, wanted
        accepted.append(tree_tokens[match])
        node = match


if __name__ == "__main__":
    model = TinyTarget()
    print(verify_and_accept([1, 2, 3], [4, 5, 6], [-1, 0, 0], model))
