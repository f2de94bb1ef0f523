# bug: parents are compared by identity, which holds for Python's small integers, up to 256, alone
# caught by: parent_logits
# passes: tree_mask
import math
import random


class CountingModel:
    """A bigram counter as the smallest target model one can think of."""

    def __init__(self, vocab_size=10):
        self.vocab_size = vocab_size

    def next_token_logits(self, tokens):
        last = tokens[-1]
        return [math.sin(3.1 * last + 1.7 * v + 0.3 * len(tokens)) for v in range(self.vocab_size)]


def ancestors(node, tree_parents):
    chain = []
    while node is not None:
        chain.append(node)
        node = tree_parents[node]
    return chain[::-1]


def build_tree_mask(prompt_len, tree_parents):
    size = prompt_len + len(tree_parents)
    rows = []
    for i in range(prompt_len):
        rows.append([j <= i for j in range(size)])
    for node in range(len(tree_parents)):
        seen = {prompt_len + a for a in ancestors(node, tree_parents)}
        rows.append([j < prompt_len or j in seen for j in range(size)])
    return rows


def sample(logits, temperature):
    if temperature <= 0.0:
        return max(range(len(logits)), key=lambda v: logits[v])
    top = max(logits)
    weights = [math.exp((x - top) / temperature) for x in logits]
    return random.choices(range(len(logits)), weights)[0]


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    accepted = []
    here = None
    while True:
        path = [tree_tokens[a] for a in accepted]
        token = sample(target_model.next_token_logits(prompt + path), temperature)
        step = None
        for node, parent in enumerate(tree_parents):
            if parent is here and tree_tokens[node] == token:
                step = node
                break
        if step is None:
            return [tree_tokens[a] for a in accepted], token
        accepted.append(step)
        here = step
