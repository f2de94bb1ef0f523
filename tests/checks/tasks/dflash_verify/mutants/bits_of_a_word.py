# bug: ancestors are bits of one 64-bit word: the nodes from 64 on see neither themselves nor each other
# caught by: tree_mask
import numpy as np

ONE = np.uint64(1)


class Ancestry:
    """The set of nodes that each node may see, as the bits of a word."""

    def __init__(self, parents):
        self.words = np.zeros(len(parents), dtype=np.uint64)
        for node, above in enumerate(parents):
            own = np.left_shift(ONE, np.uint64(node))
            self.words[node] = own if above < 0 else self.words[above] | own

    def matrix(self):
        places = np.arange(len(self.words), dtype=np.uint64)
        return (np.right_shift(self.words[:, None], places[None, :]) & ONE).astype(bool)


def build_tree_mask(prompt_len, tree_parents):
    total = prompt_len + len(tree_parents)
    mask = np.zeros((total, total), dtype=bool)
    mask[:, :prompt_len] = True
    mask[:prompt_len, :prompt_len] = np.tril(mask[:prompt_len, :prompt_len])
    mask[prompt_len:, prompt_len:] = Ancestry(tree_parents).matrix()
    return mask


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    rows = np.asarray(target_model([*prompt, *tree_tokens], build_tree_mask(len(prompt), tree_parents)))
    choice = rows.argmax(axis=1)
    children = {}
    for node, above in enumerate(tree_parents):
        children.setdefault(above, {}).setdefault(int(tree_tokens[node]), node)
    accepted, at = [], -1
    while (nxt := children.get(at, {}).get(int(choice[len(prompt) + at]))) is not None:
        accepted.append(int(tree_tokens[nxt]))
        at = nxt
    return accepted, int(choice[len(prompt) + at])
