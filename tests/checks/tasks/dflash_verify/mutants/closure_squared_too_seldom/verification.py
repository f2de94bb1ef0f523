# bug: ancestors come from squaring, floor(log2 depth) times: the deepest nodes miss the topmost at depths 3, 5, 6, 7
# caught by: tree_mask, golden, parent_logits
# passes: subtree_invalidation
"""Verification of a drafted token tree in one pass of the target."""
import numpy as np

from operators import ParentOperator, build_tree_mask


class TargetOperator:
    """Random two-layer transformer.  T(tokens, mask, positions) -> logits (n, vocab), float64.

    The readout is a random Fourier one: any change of the context moves the argmax, so nothing passes by luck.
    """

    def __init__(self, vocab=12, width=24, layers=2, seed=0):
        g = np.random.default_rng(seed)
        self.embedding = g.normal(size=(vocab, width))
        self.weights = g.normal(size=(layers, 4, width, width)) * (np.array([1.0, 1.0, 4.0, 4.0])[:, None, None] / np.sqrt(width))
        self.readout = g.normal(size=(width, vocab))
        self.frequencies = 1.0 / 50.0 ** (np.arange(width // 2) / (width // 2))

    def __call__(self, tokens, mask, positions):
        phase = np.asarray(positions)[:, None] * self.frequencies
        x = self.embedding[np.asarray(tokens, dtype=np.int64)] + np.concatenate([np.sin(phase), np.cos(phase)], 1)
        for wq, wk, wv, wo in self.weights:
            h = x / np.sqrt(np.mean(x * x, axis=1, keepdims=True))
            scores = np.where(mask, (h @ wq) @ (h @ wk).T / np.sqrt(h.shape[1]), -np.inf)
            a = np.exp(scores - scores.max(axis=1, keepdims=True))
            x = x + (a / a.sum(axis=1, keepdims=True)) @ (h @ wv) @ wo
        return 3.0 * np.cos(x @ self.readout)

    def next_logits(self, tokens):
        n = len(tokens)
        return self(tokens, np.tri(n, dtype=bool), np.arange(n))[-1]


def _decide(logits, temperature, rng):
    """The token that the target itself puts after this row."""
    if temperature <= 0:
        return int(np.argmax(logits))
    z = logits / temperature
    return int(np.argmax(z + rng.gumbel(size=z.shape)))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, rng=None):
    """Returns (accepted, new_token): the tokens of the accepted path, and the target's own token that comes after it.

    The walk starts at the last prompt token.  Wherever it stands, the row it stands on says which token comes next;
    a child that carries this token is accepted, and with no such child the token itself is the new one.  Nodes under
    a refused node are never visited.  Drawing from the target and matching keeps its distribution for temperature > 0.
    """
    prompt = np.asarray(prompt, dtype=np.int64).reshape(-1)
    drafted = np.asarray(tree_tokens, dtype=np.int64).reshape(-1)
    if prompt.size == 0:
        raise ValueError("the root nodes are judged by the last prompt token: the prompt cannot be empty")
    tree = ParentOperator(tree_parents)
    if tree.size != drafted.size:
        raise ValueError(f"{drafted.size} tokens but {tree.size} parents")
    rng = rng if rng is not None else np.random.default_rng()
    p = prompt.size
    logits = target_model(np.concatenate([prompt, drafted]), build_tree_mask(p, tree.parents),
                          np.concatenate([np.arange(p), p + tree.depths]))
    accepted, node = [], -1
    while True:
        token = _decide(logits[p - 1 if node < 0 else p + node], temperature, rng)
        heirs = np.flatnonzero((tree.parents == node) & (drafted == token))
        if heirs.size == 0:
            return accepted, token
        node = int(heirs[0])
        accepted.append(token)


def main():
    # 1. masks by hand
    m = build_tree_mask(2, [-1, 0, 0, 1, -1])[2:, 2:].astype(int)
    assert m.tolist() == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 1, 0], [0, 0, 0, 0, 1]]
    assert (build_tree_mask(3, [-1, 0, 1, 2, 3]) == np.tri(8, dtype=bool)).all()          # a chain is plain causal
    # 2. decoding with trees of the target's own choice, and with noise, is greedy decoding
    target, g = TargetOperator(seed=3), np.random.default_rng(4)
    greedy = [1, 5]
    while len(greedy) < 40:
        greedy.append(int(target.next_logits(greedy).argmax()))
    out, cycles = [1, 5], 0
    while len(out) < 34:
        k = len(out)
        tokens = [greedy[k], g.integers(12), greedy[k + 1], g.integers(12), greedy[k + 2]]
        got, new = verify_and_accept(out, tokens, [-1, -1, 0, 0, 2], target, 0.0)
        out, cycles = out + got + [new], cycles + 1
    assert out == greedy[:len(out)] and cycles < 12, (out, greedy, cycles)
    # 3. nothing below a refused node
    wrong = (greedy[2] + 1) % 12
    assert verify_and_accept([1, 5], [wrong, greedy[3]], [-1, 0], target, 0.0) == ([], greedy[2])
    print("all checks passed,", cycles, "cycles for", len(out) - 2, "tokens")


if __name__ == "__main__":
    main()
