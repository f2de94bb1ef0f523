# right: residual sampling over siblings above temperature 0, plain greedy at 0; a class with a generator
import numpy as np


class TreeSpeculator:
    """Accepts drafted children so that the output keeps the target's distribution."""

    def __init__(self, target, seed=0):
        self.target = target
        self.rng = np.random.default_rng(seed)

    @classmethod
    def build_tree_mask(cls, prompt_len, tree_parents):
        n = len(tree_parents)
        m = np.zeros((prompt_len + n, prompt_len + n), dtype=bool)
        m[:prompt_len, :prompt_len] = ~np.triu(np.ones((prompt_len, prompt_len), dtype=bool), 1)
        for i, p in enumerate(tree_parents):
            m[prompt_len + i] |= m[prompt_len + p] if p >= 0 else m[prompt_len - 1]
            m[prompt_len + i, prompt_len + i] = True
        return m

    def distribution(self, logits, temperature):
        if temperature == 0:
            p = np.zeros_like(logits)
            p[np.argmax(logits)] = 1.0
            return p
        p = np.exp((logits - logits.max()) / temperature)
        return p / p.sum()

    def verify_and_accept(self, prompt, tree_tokens, tree_parents, temperature=0.0):
        P = len(prompt)
        logits = self.target.forward(np.array([*prompt, *tree_tokens]), self.build_tree_mask(P, tree_parents))
        node, accepted = -1, []
        while True:
            p = self.distribution(logits[P + node], temperature)
            for child in [i for i, parent in enumerate(tree_parents) if parent == node]:
                token = tree_tokens[child]
                if p.sum() > 0 and self.rng.random() < p[token] / p.sum():
                    accepted.append(int(token))
                    node = child
                    break
                p = p.copy()
                p[token] = 0.0
            else:
                return accepted, int(self.rng.choice(len(p), p=p / p.sum()))
