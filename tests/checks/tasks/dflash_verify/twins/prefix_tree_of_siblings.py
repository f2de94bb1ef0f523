# style: equal siblings become one entry of a prefix tree, which the target sees; accepted are the drafted indices
"""Draft verification on a prefix tree.

Two drafted nodes that end the same text are one entry: the target would compute the same keys and values for both.
The target is asked about entries alone. Each is answered for by the lowest index among the drafted nodes that share
it, so that the next index accepted may hang below another of them.
"""
import numpy as np


class Entry:
    """One text below the prompt."""

    __slots__ = ("above", "node", "row", "token", "under")

    def __init__(self, above, token, node, row):
        self.above, self.token, self.node, self.row = above, token, node, row
        self.under = {}

    def lineage(self):
        entry = self
        while entry.above is not None:
            yield entry
            entry = entry.above


def build_tree_mask(prompt_len, tree_parents):
    """(P + N, P + N) booleans, true where a row's position sees a column's."""
    size = prompt_len + len(tree_parents)
    mask = np.zeros((size, size), dtype=bool)
    mask[:, :prompt_len] = np.arange(size)[:, None] >= np.arange(prompt_len)
    for node in range(len(tree_parents)):
        seen = node
        while seen != -1:
            mask[prompt_len + node, prompt_len + seen] = True
            seen = tree_parents[seen]
    return mask


def _prefix_tree(tokens, parents, last_row):
    """The entry above all, and the others in the order in which the target gets them."""
    top = Entry(None, None, -1, last_row)
    entry_of, entries = {-1: top}, []
    for node, (token, parent) in enumerate(zip(tokens, parents)):
        above = entry_of[parent]
        if token not in above.under:
            above.under[token] = Entry(above, token, node, last_row + 1 + len(entries))
            entries.append(above.under[token])
        entry_of[node] = above.under[token]
    return top, entries


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0, rng=None):
    """Indices of the accepted nodes from the root on, and the token that the target goes on with."""
    length = len(prompt)
    top, entries = _prefix_tree(list(map(int, tree_tokens)), list(map(int, tree_parents)), length - 1)
    ids = np.array([*prompt, *(entry.token for entry in entries)], dtype=np.int64)
    mask = np.zeros((len(ids), len(ids)), dtype=bool)
    mask[:length, :length] = np.tri(length, dtype=bool)
    for entry in entries:
        mask[entry.row, :length] = True
        mask[entry.row, [seen.row for seen in entry.lineage()]] = True
    logits = np.asarray(target_model(ids, mask))
    rng = rng or np.random.default_rng()

    def chosen(row):
        if temperature == 0:
            return int(logits[row].argmax())
        return int((logits[row] / temperature + rng.gumbel(size=logits.shape[1])).argmax())

    entry, token = top, chosen(top.row)
    while token in entry.under:
        entry = entry.under[token]
        token = chosen(entry.row)
    return [passed.node for passed in entry.lineage()][::-1], token
