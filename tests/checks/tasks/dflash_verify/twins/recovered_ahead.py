# right: what is drawn where a draft is refused is drawn ahead, from a copy of the target's probabilities
# passes: distribution, golden
# Tree verification (DFlash).  State of one step lives in a plain dict; the target is anything
# with  forward(token_ids, attention_mask) -> (len, vocab) logits.
import numpy as np


class TargetModel:
    """Minimal target: bag of visible tokens + last token, position = depth in the tree."""

    def __init__(self, vocab_size=9, hidden=16, seed=1):
        rs = np.random.RandomState(seed)
        self.vocab_size = vocab_size
        self.tok = rs.randn(vocab_size, hidden)
        self.out = rs.randn(hidden, vocab_size)

    def forward(self, token_ids, attention_mask):
        vis = np.asarray(attention_mask, dtype=float)
        depth = vis.sum(axis=1, keepdims=True)
        x = self.tok[np.asarray(token_ids)]
        h = np.tanh(x + vis @ x / depth + 0.1 * np.cos(depth))
        return h @ self.out

    __call__ = forward


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    sees = np.eye(n, dtype=bool)
    for _ in range(n):  # close the parent relation (any node order)
        grown = sees.copy()
        for i, par in enumerate(tree_parents):
            if par >= 0:
                grown[i] |= sees[par]
        if np.array_equal(grown, sees):
            break
        sees = grown
    top = np.hstack([np.tri(prompt_len, dtype=bool), np.zeros((prompt_len, n), dtype=bool)])
    bottom = np.hstack([np.ones((n, prompt_len), dtype=bool), sees])
    return np.vstack([top, bottom])


def logits_to_probs(logits, temperature):
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    scaled -= scaled.max(axis=-1, keepdims=True)
    e = np.exp(scaled)
    return e / e.sum(axis=-1, keepdims=True)


def sample_recovered_tokens(target_probs, children, tokens, rng):
    """For every row that has children: the token to emit should all of them be refused.

    Drawn for all rows at once, before the acceptance walk, as the batched kernels do.
    """
    recovered = {}
    for row, nodes in children.items():
        residual = target_probs[row + 1].copy()
        for node in nodes:
            residual[tokens[node]] = 0.0
        mass = residual.sum()
        # with no mass left the last child is certain to be accepted, nothing to recover
        recovered[row] = int(rng.choice(residual.size, p=residual / mass)) if mass > 1e-12 else None
    return recovered


def walk_greedy(step):
    accepted, at = [], -1
    while True:
        want = int(np.argmax(step["logits"][at + 1]))
        nxt = [c for c in step["children"].get(at, []) if step["tokens"][c] == want]
        if not nxt:
            return accepted, want
        accepted.append(want)
        at = nxt[0]


def walk_sampling(step, temperature, rng):
    probs = logits_to_probs(step["logits"], temperature)
    recovered = sample_recovered_tokens(probs, step["children"], step["tokens"], rng)
    accepted, at = [], -1
    while True:
        p = probs[at + 1]
        nodes = step["children"].get(at)
        if not nodes:
            return accepted, int(rng.choice(p.size, p=p))  # bonus token after a leaf
        remaining, tried, chosen = 1.0, set(), None
        for node in nodes:
            tok = step["tokens"][node]
            if tok in tried:  # a twin of a refused sibling
                continue
            if rng.random() * remaining < p[tok]:
                chosen = node
                break
            tried.add(tok)
            remaining -= p[tok]
        if chosen is None and recovered[at] is None:
            chosen = nodes[-1]
        if chosen is None:
            return accepted, recovered[at]
        accepted.append(step["tokens"][chosen])
        at = chosen


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature, rng=None):
    prompt = list(map(int, prompt))
    tokens = list(map(int, tree_tokens))
    parents = list(map(int, tree_parents))
    children = {}
    for i, par in enumerate(parents):
        children.setdefault(par, []).append(i)
    mask = build_tree_mask(len(prompt), parents)
    logits = np.asarray(target_model.forward(np.array(prompt + tokens), mask))
    # row 0: after the prompt; row i + 1: after node i
    step = {"tokens": tokens, "children": children, "logits": logits[len(prompt) - 1 :]}
    if temperature == 0:
        return walk_greedy(step)
    return walk_sampling(step, temperature, rng or np.random.default_rng())


def main():
    model = TargetModel()
    prompt = [3, 1]
    mask = build_tree_mask(2, [-1, -1, 0, 0, 2])
    print(mask.astype(int))
    for temperature in (0, 0.7, 1.0):
        print(temperature, verify_and_accept(prompt, [2, 5, 1, 7, 7], [-1, -1, 0, 0, 2], model, temperature))


if __name__ == "__main__":
    main()
