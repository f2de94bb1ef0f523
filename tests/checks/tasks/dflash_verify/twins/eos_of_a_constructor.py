# style: the constructor takes the EOS, with a default
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    mask = np.tri(size, dtype=bool)
    mask[prompt_len:, prompt_len:] = np.eye(len(tree_parents), dtype=bool)
    for node, parent in enumerate(tree_parents):
        if parent >= 0:
            mask[prompt_len + node, prompt_len:] |= mask[prompt_len + parent, prompt_len:]
    return mask


def choose(row, temperature):
    if temperature == 0:
        return int(np.argmax(row))
    weights = np.exp((row - row.max()) / temperature)
    return int(np.random.choice(len(row), p=weights / weights.sum()))


class Verifier:
    def __init__(self, target_model, eos_token_id=3):
        self.target_model, self.eos_token_id = target_model, eos_token_id

    def verify_and_accept(self, prompt, tree_tokens, tree_parents, temperature=0.0):
        mask = build_tree_mask(len(prompt), tree_parents)
        logits = np.asarray(self.target_model(list(prompt) + list(tree_tokens), mask))[len(prompt) - 1 :]
        nodes, accepted = [-1], []
        while True:
            token = choose(logits[nodes[0] + 1], temperature)
            nodes = [i for i, p in enumerate(tree_parents) if p in nodes and tree_tokens[i] == token]
            if token == self.eos_token_id:
                return [*accepted, token], None
            if not nodes:
                return accepted, token
            accepted.append(token)
