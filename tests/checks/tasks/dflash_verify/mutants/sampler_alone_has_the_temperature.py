# bug: the temperature is known to the sampler, and the judge of drafts takes probabilities as they are
# caught by: distribution
# passes: parent_logits
import numpy as np


def build_tree_mask(prompt_len, tree_parents):
    n = prompt_len + len(tree_parents)
    mask = np.tril(np.ones((n, n), dtype=bool))
    mask[prompt_len:, prompt_len:] = np.eye(len(tree_parents), dtype=bool)
    for node, parent in enumerate(tree_parents):
        while parent >= 0:
            mask[prompt_len + node, prompt_len + parent] = True
            parent = tree_parents[parent]
    return mask


class Sampler:
    def __init__(self, temperature):
        self.temperature = temperature

    def __call__(self, logits, banned):
        if self.temperature == 0:
            return int(np.argmax(logits))
        # The largest of logits with Gumbel noise is a draw.
        noisy = logits / self.temperature + np.random.gumbel(size=len(logits))
        noisy[banned] = -np.inf
        return int(np.argmax(noisy))


class Judge:
    def __init__(self, greedy):
        self.greedy = greedy

    def refused(self, logits, tokens):
        """Tokens before the first that is accepted."""
        if self.greedy:
            best = int(np.argmax(logits))
            return tokens[: tokens.index(best)] if best in tokens else tokens
        odds = np.exp(logits - logits.max())
        for count, token in enumerate(tokens):
            if np.random.random() * odds.sum() < odds[token]:
                return tokens[:count]
            odds[token] = 0.0
        return tokens


def verify_and_accept(prompt, tree_tokens, tree_parents, target_model, temperature=0.0):
    ids = [*prompt, *tree_tokens]
    logits = np.asarray(target_model(ids, build_tree_mask(len(prompt), tree_parents)))
    judge, sampler = Judge(temperature == 0), Sampler(temperature)
    at, accepted = -1, []
    while True:
        row = logits[len(prompt) + at]
        children = [node for node, parent in enumerate(tree_parents) if parent == at]
        tokens = [int(tree_tokens[node]) for node in children]
        refused = judge.refused(row, tokens)
        if len(refused) == len(tokens):
            return accepted, sampler(row, refused)
        at = children[len(refused)]
        accepted.append(tokens[len(refused)])
