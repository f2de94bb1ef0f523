# bug: paths are padded with -1, which as an index is the last token, and the padding is compared with the rest
# caught by: subtree_invalidation
# passes: tree_mask
"""Verification of a drafted token tree with one forward pass of the target model.

Everything is done on a table of candidate paths: one row per leaf, the node ids from root to leaf, as in multi-head
drafting.  One comparison of the table with the target's choices and a cumulative product say how far each path holds.
"""
import numpy as np

NEG = np.float32(-1e9)


class TinyTarget:
    """One causal attention layer with position-by-depth, enough to make every token depend on its whole context.

    Call it with token ids (n,) and a boolean mask (n, n), True where a row may look; it returns logits (n, V) float32.
    """

    def __init__(self, vocab=29, width=16, seed=0, sharpness=4.0):
        g = np.random.default_rng(seed)
        self.vocab = vocab
        self.emb = g.normal(size=(vocab, width)).astype(np.float32)
        self.wq, self.wk, self.wv = (g.normal(size=(3, width, width)) / np.sqrt(width)).astype(np.float32)
        self.freq = (0.7 ** np.arange(width)).astype(np.float32)
        self.head = (sharpness * g.normal(size=(width, vocab)) / np.sqrt(width)).astype(np.float32)

    def __call__(self, tokens, mask):
        pos = mask.sum(1).astype(np.float32) - 1        # how many one sees, less oneself, is the position
        x = self.emb[np.asarray(tokens)] + np.sin(pos[:, None] * self.freq)
        s = (x @ self.wq) @ (x @ self.wk).T / np.sqrt(x.shape[1])
        s = np.where(mask, s, NEG)
        p = np.exp(s - s.max(1, keepdims=True))
        p *= mask
        x = x + (p / p.sum(1, keepdims=True)) @ (x @ self.wv)
        return np.tanh(x) @ self.head


def build_tree_mask(prompt_len, tree_parents):
    """(P+N, P+N) bool.  tree_parents[i] is the parent node of node i, -1 for a child of the last prompt token."""
    P, N = int(prompt_len), len(tree_parents)
    mask = np.zeros((P + N, P + N), dtype=bool)
    mask[:P, :P] = np.tri(P, dtype=bool)
    mask[P:, :P] = True
    for i in range(N):
        j = i
        while j >= 0:
            mask[P + i, P + j] = True
            j = tree_parents[j]
    return mask


def candidate_paths(tree_parents):
    """(leaves, depth) node ids, one root-to-leaf path per row, padded with -1 to the deepest one."""
    parents = [int(p) for p in tree_parents]
    inner = set(parents)
    paths = []
    for leaf in range(len(parents)):
        if leaf in inner:
            continue
        path, j = [], leaf
        while j >= 0:
            path.append(j)
            j = parents[j]
        paths.append(path[::-1])
    depth = max(map(len, paths))
    return np.array([p + [-1] * (depth - len(p)) for p in paths])


def _choose(logits, temperature, rng):
    """The token that the target emits after every row."""
    if temperature <= 0:
        return logits.argmax(1)
    z = logits.astype(np.float64) / temperature
    return (z + rng.gumbel(size=z.shape)).argmax(1)


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, rng=None):
    """Returns (accepted tokens, new token).

    The target speaks once per row (greedy, or one sample per row for temperature > 0), and a node holds if it is what the
    target said at its parent.  The longest path that holds from its root on is accepted; the new token is what
    the target said at the end of it: a correction or a bonus.
    """
    prompt = np.asarray(prompt, dtype=np.int64)
    tokens = np.asarray(tree_tokens, dtype=np.int64)
    P = len(prompt)
    rng = np.random.default_rng() if rng is None else rng
    mask = build_tree_mask(P, tree_parents)
    said = _choose(target_model(np.concatenate([prompt, tokens]), mask), temperature, rng)
    if len(tokens) == 0:
        return [], int(said[P - 1])

    paths = candidate_paths(tree_parents)                                   # (leaves, depth)
    proposal = tokens[paths]
    rows = np.concatenate([np.full((len(paths), 1), P - 1), P + paths], axis=1)   # row that judges each step
    expected = said[rows[:, :-1]]
    holds = np.cumprod(proposal == expected, axis=1)
    n_good = holds.sum(axis=1)
    best = int(n_good.argmax())
    n = int(n_good[best])
    return proposal[best, :n].tolist(), int(said[rows[best, n]])


def generate(prompt, target_model, drafter, max_new, temperature=0.0, rng=None):
    """Draft, verify, repeat.  drafter(sequence) -> (tree_tokens, tree_parents)."""
    seq, cycles = list(prompt), 0
    while len(seq) < len(prompt) + max_new:
        got, new = verify_and_accept(seq, *drafter(seq), target_model, temperature, rng)
        seq += got + [new]
        cycles += 1
    return seq[:len(prompt) + max_new], cycles
