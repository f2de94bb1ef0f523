# bug: the log-probability of EOS is added to the node where a path ends, which its continuations share
# caught by: eos_retention, exhaustive_optimum, length_penalty
# only: eos_retention, exhaustive_optimum, length_penalty
import numpy as np


class Node:
    """One generated token, and the one before it."""

    def __init__(self, before, token, logprob):
        self.before, self.token, self.logprob = before, token, logprob

    def path(self):
        node, tokens, total = self, [], 0.0
        while node.before is not None:
            tokens.append(node.token)
            total += node.logprob
            node = node.before
        return tokens[::-1], total + node.logprob


def _one(model, prompt, width, limit, alpha, eos):
    live, ended = [Node(None, None, 0.0)], []
    for _ in range(limit):
        grown = []
        for node in live:
            tokens, total = node.path()
            row = np.asarray(model(prompt + tokens), dtype=float)
            row = row - row.max() - np.log(np.exp(row - row.max()).sum())
            grown += [(total + value, token, value, node) for token, value in enumerate(row.tolist())]
        grown.sort(key=lambda entry: -entry[0])
        live = []
        for rank, (_total, token, value, node) in enumerate(grown[: 2 * width]):
            if token != eos:
                live = [*live, Node(node, token, value)][:width]
            elif rank < width:
                node.logprob += value
                ended.append(node)
    listed = []
    for last, closed in [*((node, True) for node in ended), *((node, False) for node in live)]:
        tokens, total = last.path()
        tokens = [*tokens, eos] if closed else tokens
        listed.append((tokens, total / len(tokens) ** alpha if tokens else total))
    return sorted(listed, key=lambda entry: -entry[1])[:width]


def batched_beam_search(prompts, beam_width, max_new_tokens, alpha, eos_token_id, model):
    """Per prompt the best (tokens, score), best first."""
    return [_one(model, list(p), beam_width, max_new_tokens, alpha, eos_token_id) for p in prompts]
