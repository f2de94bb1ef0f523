# bug: a prompt of more than 150 tokens is cut to its end, so that the target judges another text
# caught by: parent_logits, golden
# passes: tree_mask, distribution
import numpy as np

CONTEXT = 150


def tree_rows(tree_parents):
    rows = np.eye(len(tree_parents), dtype=bool)
    for node, parent in enumerate(tree_parents):
        while parent >= 0:
            rows[node, parent] = True
            parent = tree_parents[parent]
    return rows


def build_tree_mask(prompt_len, tree_parents):
    n = len(tree_parents)
    return np.block(
        [
            [np.tri(prompt_len, dtype=bool), np.zeros((prompt_len, n), dtype=bool)],
            [np.ones((n, prompt_len), dtype=bool), tree_rows(list(tree_parents))],
        ]
    )


def sample(logits, temperature, generator):
    if temperature == 0.0:
        return int(np.argmax(logits))
    p = np.exp((logits - np.max(logits)) / temperature)
    return int(np.searchsorted(np.cumsum(p / p.sum()), generator.random(), side="right").clip(0, len(p) - 1))


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    context = list(prompt)
    if len(context) > CONTEXT:
        context = context[-CONTEXT:]
    ids = np.array([*context, *tree_tokens])
    logits = target_model(ids, build_tree_mask(len(context), tree_parents))
    generator = np.random.default_rng()
    tokens, last = [], -1
    while True:
        token = sample(logits[len(context) + last], temperature, generator)
        follow = [i for i in range(len(tree_tokens)) if tree_parents[i] == last and tree_tokens[i] == token]
        if not follow:
            return tokens, token
        last = follow[0]
        tokens.append(token)
