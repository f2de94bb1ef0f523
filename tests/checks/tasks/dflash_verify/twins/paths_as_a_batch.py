# right: every path as a row of one padded batch, no mask for the model; namedtuple with flags per node
# warns: distribution
import collections

import numpy as np

Verified = collections.namedtuple("Verified", "accepted_mask new_token")


def chain_of(node, parents):
    nodes = []
    while node != -1:
        nodes.append(node)
        node = parents[node]
    return nodes[::-1]


def build_tree_mask(prompt_len, tree_parents):
    total = prompt_len + len(tree_parents)
    mask = np.zeros((total, total), dtype=bool)
    lower = np.arange(total)[:, None] >= np.arange(total)[None, :]
    mask[:, :prompt_len] = lower[:, :prompt_len]
    for node in range(len(tree_parents)):
        mask[prompt_len + node, [prompt_len + a for a in chain_of(node, tree_parents)]] = True
    return mask


class Target:
    def __init__(self, vocab=23, seed=9):
        self.table = np.random.default_rng(seed).normal(size=(vocab, vocab))

    def forward(self, batch):
        return np.cumsum(self.table[batch], axis=1)


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    prompt = list(prompt)
    texts = [prompt] + [prompt + [tree_tokens[a] for a in chain_of(i, tree_parents)] for i in range(len(tree_tokens))]
    width = max(map(len, texts))
    batch = np.zeros((len(texts), width), dtype=np.int64)
    for row, text in enumerate(texts):
        batch[row, : len(text)] = text
    logits = target_model.forward(batch)
    after = [int(np.argmax(logits[row, len(text) - 1])) for row, text in enumerate(texts)]
    flags = [False] * len(tree_tokens)
    node = -1
    while True:
        nxt = [i for i in range(len(tree_tokens)) if tree_parents[i] == node and tree_tokens[i] == after[node + 1]]
        if not nxt:
            return Verified(flags, after[node + 1])
        node = nxt[0]
        flags[node] = True
