# right: the model takes prompt and tree apart; (new token, tokens, indices) comes back
# warns: distribution
import numpy as np


def build_tree_mask(P, parents):
    N = len(parents)
    mask = np.zeros((P + N, P + N), dtype=bool)
    for i in range(P + N):
        if i < P:
            mask[i, :i + 1] = True
            continue
        mask[i, :P] = True
        stack = [i - P]
        while stack:
            node = stack.pop()
            mask[i, P + node] = True
            if parents[node] >= 0:
                stack.append(parents[node])
    return mask


class EchoModel:
    """Predicts the token after the last one it saw, plus one."""

    vocab_size = 16

    def forward(self, prompt, tree_tokens, mask):
        tokens = list(prompt) + list(tree_tokens)
        out = np.zeros((len(tokens), self.vocab_size))
        for i, t in enumerate(tokens):
            out[i, (t + int(mask[i].sum())) % self.vocab_size] = 1.0
        return out


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0):
    P = len(prompt)
    logits = target_model.forward(prompt, tree_tokens, build_tree_mask(P, tree_parents))
    greedy = [int(np.argmax(row)) for row in logits]

    def descend(node):
        want = greedy[P - 1] if node is None else greedy[P + node]
        for child, parent in enumerate(tree_parents):
            same = parent == -1 if node is None else parent == node
            if same and tree_tokens[child] == want:
                rest, last = descend(child)
                return [child] + rest, last
        return [], want

    path, bonus = descend(None)
    return bonus, [tree_tokens[i] for i in path], path
